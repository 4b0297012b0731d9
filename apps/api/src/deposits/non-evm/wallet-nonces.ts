/** Nonces for wallet transfers that carry no other id. */
export interface WalletNonces {
  /**
   * Unique, and close enough to the current time for Hyperliquid to accept: Unix ms.
   * @param chance from 0 to 1
   */
  next(nowMs: number, chance: number): number;
}

/** Other processes issue nonces at the same time: two for one wallet must be unlikely to collide. */
const SPREAD_MS = 4_096;

/** Strictly ascending within this process. */
export function walletNonces(): WalletNonces {
  let last = 0;
  return {
    next(nowMs, chance) {
      const candidate = nowMs + Math.floor(chance * SPREAD_MS);
      last = candidate > last ? candidate : last + 1;
      return last;
    },
  };
}
