export {
  readClearinghouse,
  readLedger,
  readPosted,
  readSpotBalances,
  readSpotMeta,
  readTransactionAnswer,
  readTransferCheck,
  readUserDetails,
  type HyperliquidTransaction,
  type LedgerPage,
  type LedgerTransfer,
  type SpotToken,
  type UnknownEntry,
} from "./answers.ts";
export { depositIn, type HyperliquidDeposit } from "./deposits.ts";
export type { HyperliquidFacts } from "./facts.ts";
export { hyperliquid, nonceToMap, type HyperliquidRules } from "./family.ts";
export { INDEX_LAG_MS, isNonceOver, RETRY_AFTER_SECONDS } from "./finality.ts";
export { purposeOf, type TransferPurpose } from "./payments/transfer-purpose.ts";
export { judgePayment, timestampOf } from "./payments.ts";
export type { TransferRules } from "./payments/transfers.ts";
export {
  isExecutionOf,
  mayBeExecutionOf,
  readWithdrawal,
  type HyperliquidWithdrawal,
  type WithdrawalRules,
} from "./withdrawals.ts";
