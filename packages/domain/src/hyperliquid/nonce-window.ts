/**
 * When Hyperliquid accepts an action, by its own documentation: in a block of time T its nonce must be within
 * (T - 2 days, T + 1 day), in milliseconds, unused by that signer, and larger than the smallest of the
 * signer's 100 highest nonces.
 */
const DAY_MS = 86_400_000n;
const BEHIND_MS = 2n * DAY_MS;
const AHEAD_MS = DAY_MS;

/** The first and the last block time, ms, at which an action with this nonce could be accepted. */
export function hyperliquidNonceWindow(nonce: bigint): {
  readonly opensAt: bigint;
  readonly closesAt: bigint;
} {
  return { opensAt: nonce - AHEAD_MS + 1n, closesAt: nonce + BEHIND_MS - 1n };
}

/** Whether a nonce is within Hyperliquid's window at `time` (ms). */
export function isInNonceWindow(nonce: bigint, time: bigint): boolean {
  const { opensAt, closesAt } = hyperliquidNonceWindow(nonce);
  return time >= opensAt && time <= closesAt;
}

/** How many of a signer's highest nonces are remembered; anything below the smallest of them is refused. */
export const REMEMBERED_NONCES = 100;
