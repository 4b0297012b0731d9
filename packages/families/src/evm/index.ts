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
export * from "./finality/block-trail.ts";
export { depositEvidenceIn, needsCalldata, type DepositRules } from "./deposits/deposit-evidence.ts";
export * from "./deposits.ts";
export { addressOfTopic, addressOfWord, splitWords } from "./answers/event-words.ts";
export * from "./payments/fill-calldata.ts";
export { finalityOf, headTagOf, lowerCandidate } from "./finality.ts";
export type { EvmFacts } from "./facts.ts";
export { evm, needsTransaction, type EvmRules, type EvmTransaction } from "./family.ts";
export { depositsForOrder } from "./deposits/named-payments.ts";
export * from "./payments/net-inflow.ts";
export { judgePayments, type PaymentJudgment } from "./payments.ts";
export type * from "./port.ts";
export { SOLVER_CALL_EXECUTED_TOPIC, SOLVER_NATIVE_TRANSFER_TOPIC } from "./payments/router-events.ts";
export { CALL_EXECUTED_TOPIC, executionIn, readWithdrawal, type WithdrawalPayment } from "./withdrawals.ts";
