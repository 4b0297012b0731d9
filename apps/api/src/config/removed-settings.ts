import { FEE_BUMP_BPS } from "@causeway/domain";
import { APP_BALANCE_CLAIM_SECONDS } from "./app-balance.ts";
import { fixedEnginePolicy } from "./engine.ts";
import { fixedHttpPolicy } from "./http.ts";
import { fixedPricePolicy } from "./prices.ts";
import { fixedPushPolicy } from "./push.ts";
import { fixedQuotePolicy } from "./quotes.ts";
import { fixedSettlementPolicy, ORACLE_TIMEOUT_MS } from "./settlement.ts";
import { fixedStoragePolicy } from "./storage.ts";
import { fixedAggregatorPolicy } from "./swaps.ts";
import { fixedTokenListPolicy } from "./tokens.ts";

/** Former settings and the values that they are fixed at. A process that still gets one logs a warning. */
export const removedSettings: Readonly<Record<string, string | number>> = {
  DATABASE_STATEMENT_TIMEOUT_MS: fixedStoragePolicy.statementTimeoutMs,
  BODY_LIMIT_BYTES: fixedHttpPolicy.bodyLimitBytes,
  PUSH_MAX_SUBSCRIPTIONS: fixedPushPolicy.maxSubscriptions,
  PUSH_HEARTBEAT_MS: fixedPushPolicy.heartbeatMs,
  WEBHOOK_TIMEOUT_MS: fixedPushPolicy.webhookTimeoutMs,
  PRICE_TIMEOUT_MS: fixedPricePolicy.timeoutMs,
  TOKEN_LIST_REFRESH_MS: fixedTokenListPolicy.refreshMs,
  TOKEN_LIST_TIMEOUT_MS: fixedTokenListPolicy.timeoutMs,
  SWAP_AGGREGATOR_NAME: fixedAggregatorPolicy.name,
  SWAP_AGGREGATOR_TIMEOUT_MS: fixedAggregatorPolicy.timeoutMs,
  FILL_GRACE_SECONDS: fixedQuotePolicy.fillGraceSeconds,
  REFUND_GRACE_SECONDS: fixedQuotePolicy.refundGraceSeconds,
  TX_STUCK_AFTER_MS: fixedEnginePolicy.stuckAfterMs,
  TX_BUMP_BPS: FEE_BUMP_BPS,
  TX_MAX_ATTEMPTS: fixedEnginePolicy.maxAttempts,
  TX_REBROADCAST_INTERVAL_MS: fixedEnginePolicy.rebroadcastIntervalMs,
  TX_ORPHANED_AFTER_MS: fixedEnginePolicy.orphanedAfterMs,
  TX_CANCEL_AFTER_DEADLINE_MS: fixedEnginePolicy.cancelAfterDeadlineMs,
  EXPIRY_GRACE_MS: fixedEnginePolicy.expiryGraceMs,
  LANE_INTERVAL_MS: fixedEnginePolicy.laneIntervalMs,
  RECONCILE_INTERVAL_MS: fixedEnginePolicy.reconcileIntervalMs,
  OVERDUE_AFTER_MS: fixedEnginePolicy.overdueAfterMs,
  ORACLE_TIMEOUT_MS,
  SETTLEMENT_INTERVAL_MS: fixedSettlementPolicy.intervalMs,
  SETTLEMENT_MAX_RETRY_MS: fixedSettlementPolicy.maxRetryMs,
  SETTLEMENT_REJECTED_RETRY_MS: fixedSettlementPolicy.rejectedRetryMs,
  SETTLEMENT_BATCH_SIZE: fixedSettlementPolicy.batchSize,
  SETTLEMENT_STUCK_AFTER_MS: fixedSettlementPolicy.stuckAfterMs,
  APP_BALANCE_CLAIM_SECONDS,
};
