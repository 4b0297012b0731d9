import type { SettlementPolicy } from "./settlement-policy.port.ts";

/** Milliseconds until the next try: doubles with each failure, up to the maximum. */
export function backoff(
  { retryMs, maxRetryMs }: Pick<SettlementPolicy, "retryMs" | "maxRetryMs">,
  tries: number,
): number {
  return Math.min(retryMs * 2 ** Math.min(tries, 30), maxRetryMs);
}
