import type { SettlementPolicy } from "./settlement-policy.port.ts";

/** ms until the next try after so many that failed: doubling, up to the most. */
export function backoff(
  { retryMs, maxRetryMs }: Pick<SettlementPolicy, "retryMs" | "maxRetryMs">,
  tries: number,
): number {
  return Math.min(retryMs * 2 ** Math.min(tries, 30), maxRetryMs);
}
