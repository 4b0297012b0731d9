import { exchangeNonceWindow } from "@causeway/domain";

/**
 * When something on the perpetuals exchange is settled. Pure.
 *
 * Its blocks are final when they are there: validators agree on a block before it takes effect, and none is
 * taken back. What the explorer shows in a block has happened.
 *
 * That something has not happened, and never can, is harder. An action is known by its nonce, which the
 * exchange takes only within a window around the time of its own blocks, at most once for each signer. A
 * failed attempt is no end: the same signed action may be posted again while the window is open. So an action
 * is over when
 *
 * 1. the exchange's own clock is past the last block time at which the nonce could be taken. It is the
 *    clock in its answers and not ours, which may be wrong, and which another oracle does not share; a clock
 *    that only lags makes the answer come later.
 * 2. by then the indexes have had {@link INDEX_LAG_MS} to tell of the window's last block.
 * 3. the ledger of the account, read after that clock, tells of no such transfer in the whole window, and
 *    can be shown to have been told whole.
 */

/** Milliseconds that the exchange's indexes may be behind its clock when they are well. */
export const INDEX_LAG_MS = 3_600_000n;

/** Seconds after which it is worth asking again for something that the explorer may not know yet. */
export const RETRY_AFTER_SECONDS = 5;

/**
 * Whether an action with this nonce can never be taken any more, by the exchange's clock (ms), with time for
 * its indexes.
 */
export function isNonceOver(nonce: bigint, clock: bigint): boolean {
  return clock > exchangeNonceWindow(nonce).closesAt + INDEX_LAG_MS;
}
