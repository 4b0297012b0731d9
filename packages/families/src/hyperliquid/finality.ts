import { hyperliquidNonceWindow } from "@causeway/domain";

/**
 * When something on Hyperliquid is settled. Pure.
 *
 * A block is final as soon as it exists: validators agree on a block before it takes effect, and no block is
 * reorged out. What the explorer shows in a block has happened.
 *
 * It is harder to know that an action has not happened and never will. An action is identified by its nonce,
 * which Hyperliquid accepts only within a window around the time of its own blocks, at most once for each
 * signer. A failed attempt proves nothing: the same signed action may be posted again while the window is
 * open. So an action can no longer happen once
 *
 * 1. Hyperliquid's own clock is past the last block time at which the nonce could be accepted. That is the
 *    clock in its responses. Local clocks may be wrong and differ between oracles. If Hyperliquid's clock
 *    lags, the answer is only delayed.
 * 2. the indexes have had {@link INDEX_LAG_MS} since then to report the window's last block.
 * 3. the ledger of the account, read after that time, reports no such transfer in the whole window, and
 *    provably has no gaps.
 */

/** Maximum milliseconds that healthy indexes are behind Hyperliquid's clock. */
export const INDEX_LAG_MS = 3_600_000n;

/** Seconds until a retry, if the explorer may not know a transaction yet. */
export const RETRY_AFTER_SECONDS = 5;

/**
 * Whether an action with this nonce can no longer be accepted, by Hyperliquid's clock (ms), including the
 * delay of its indexes.
 */
export function isNonceOver(nonce: bigint, clock: bigint): boolean {
  return clock > hyperliquidNonceWindow(nonce).closesAt + INDEX_LAG_MS;
}
