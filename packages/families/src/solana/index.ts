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
export * from "./depository-instructions.ts";
export { depositsIn, tokenAccountsWanted, vaultKey } from "./deposits.ts";
export * from "./derived-addresses.ts";
export { solana } from "./family.ts";
export type { AccountFact, TransactionFacts } from "./facts.ts";
export { RETRY_AFTER_SECONDS, retryAfterSeconds } from "./finality.ts";
export * from "./judge-swap.ts";
export { readLookupTable } from "./lookup-table.ts";
export { judgePayments } from "./payments.ts";
export * from "./plain-instruction.ts";
export { eventsOf } from "./program-events.ts";
export * from "./programs.ts";
export { vaultAccountsIn } from "./vault-accounts.ts";
export { outcomeOf, readWithdrawal } from "./withdrawals.ts";
