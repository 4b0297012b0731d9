export {
  isHash,
  readContract,
  readLoggedTransfers,
  readTransaction,
  type LighterTransaction,
  type LoggedTransfer,
} from "./answers.ts";
export { depositsIn } from "./deposits.ts";
export type { LighterFacts } from "./facts.ts";
export { lighter, type LighterRules } from "./family.ts";
export { RETRY_AFTER_SECONDS, settledEvidence } from "./finality.ts";
export { judgePayments } from "./payments.ts";
export {
  isOfKey,
  outcomeOf,
  readWithdrawal,
  type FoundTransfers,
  type WithdrawalPayment,
} from "./withdrawals.ts";
