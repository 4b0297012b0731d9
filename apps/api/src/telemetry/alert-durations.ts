/**
 * How long a condition must last before its alert fires, in seconds. Used by the Prometheus rules and the
 * service's own notifications.
 */
export const ALERT_SECONDS = {
  /** Ten blocks of the slowest EVM chain, and a margin. */
  nodeUnreachable: 180,
  scanBehind: 180,
  notLed: 60,
  outboxOldest: 60,
  paymentOldest: 600,
  /** About once in eight weeks, Bitcoin has no block for two hours. */
  paymentOldestOnBitcoin: 7_200,
  /** Beyond the finality of every supported chain. */
  settlementDue: 2_700,
  settlementAttested: 900,
  mappingOldest: 600,
  requestOldest: 3_600,
  claimOldest: 1_800,
} as const;
