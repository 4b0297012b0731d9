export {
  readClearinghouse,
  readLedger,
  readPosted,
  readSpotBalances,
  readSpotMeta,
  readTransactionAnswer,
  readTransferCheck,
  readUserDetails,
  type ExchangeTransaction,
  type LedgerPage,
  type LedgerTransfer,
  type SpotToken,
  type UnknownEntry,
} from "./answers.ts";
export { depositIn, type ExchangeDeposit } from "./deposits.ts";
export type { HyperliquidFacts } from "./facts.ts";
export { hyperliquid, nonceToMap, type HyperliquidRules } from "./family.ts";
export { INDEX_LAG_MS, isNonceOver, RETRY_AFTER_SECONDS } from "./finality.ts";
export { meaningOf, type NonceMeaning } from "./payments/nonce-meaning.ts";
export { judgePayment, timestampOf } from "./payments.ts";
export type { TransferRules } from "./payments/transfers.ts";
export {
  carriesOut,
  mayCarryOut,
  readWithdrawal,
  type ExchangeWithdrawal,
  type WithdrawalRules,
} from "./withdrawals.ts";
