export {
  bytesOf,
  fieldsOf,
  hashOf,
  quantityOf,
  readBlock,
  readBlockTransactions,
  readLog,
  readLogs,
  readReceipt,
  readTransaction,
  toQuantity,
} from "./answers.ts";
export * from "./block-trail.ts";
export { depositEvidenceIn, needsCalldata, type DepositRules } from "./deposit-evidence.ts";
export * from "./deposits.ts";
export { addressOfTopic, addressOfWord, splitWords } from "./event-words.ts";
export * from "./fill-calldata.ts";
export { finalityOf, headTagOf, lowerCandidate } from "./finality.ts";
export { evm, needsTransaction, type EvmRules, type EvmTransaction } from "./family.ts";
export { depositsForOrder } from "./named-payments.ts";
export * from "./net-inflow.ts";
export { judgePayments, type PaymentJudgement } from "./payments.ts";
export type * from "./port.ts";
export { SOLVER_CALL_EXECUTED_TOPIC, SOLVER_NATIVE_TRANSFER_TOPIC } from "./router-events.ts";
export { CALL_EXECUTED_TOPIC, executionIn, readWithdrawal, type WithdrawalPayment } from "./withdrawals.ts";
