export {
  fieldsOf,
  readAccounts,
  readContextSlot,
  readSignatureList,
  readSignatureStatus,
  readTransaction,
  wholeNumber,
  type SignatureEntry,
  type SignatureStatus,
  type ReportedTransaction,
} from "./answers.ts";
export * from "./deposits/deposit-addresses.ts";
export * from "./deposits/depository-instructions.ts";
export { depositsIn, neededTokenAccounts, vaultKey } from "./deposits.ts";
export * from "./deposits/depository-accounts.ts";
export type { SolanaFacts } from "./facts.ts";
export { solana } from "./family.ts";
export type { AccountFact, TransactionFacts } from "./answers/transaction-facts.ts";
export { RETRY_AFTER_SECONDS, retryAfterSeconds } from "./finality.ts";
export * from "./deposits/judge-swap.ts";
export { readLookupTable } from "./answers/lookup-table.ts";
export { judgePayments } from "./payments.ts";
export * from "./payments/plain-instruction.ts";
export { eventsOf } from "./answers/program-events.ts";
export * from "./answers/programs.ts";
export { vaultAccountsIn } from "./deposits/vault-accounts.ts";
export { outcomeOf, readWithdrawal } from "./withdrawals.ts";
export * from "./withdrawals/transfer-request.ts";
