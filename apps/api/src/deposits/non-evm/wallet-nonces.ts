/** Nonces for transfers of users' wallets that carry nothing else. */
export interface WalletNonces {
  /**
   * Never the same twice, and close enough to now to be taken by the exchange: Unix ms.
   *
   * @param chance from 0 to 1
   */
  next(nowMs: number, chance: number): number;
}

/**
 * Other processes give nonces at the same moment: of two that are asked for one wallet, they must not be
 * likely to give one.
 */
const SPREAD_MS = 4_096;

/** Ascending within this process, whoever asks. */
export function walletNonces(): WalletNonces {
  let last = 0;
  return {
    next(nowMs, chance) {
      const wanted = nowMs + Math.floor(chance * SPREAD_MS);
      last = wanted > last ? wanted : last + 1;
      return last;
    },
  };
}
