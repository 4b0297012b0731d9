/** A chain and its block time. */
interface TimedChain {
  readonly chain: { readonly id: number; readonly blockTimeSeconds: number };
}

/**
 * Estimates the seconds that routes take: the confirmations of the deposit, then the measured rest. Until a
 * route is measured, the rest is one block of the destination chain.
 */
export function routeSeconds(
  chains: readonly TimedChain[],
  measuredMs: (originChainId: number, destinationChainId: number) => number | undefined,
): (originChainId: number, destinationChainId: number, confirmations: number) => number {
  const blockSeconds = new Map(chains.map(({ chain }) => [chain.id, chain.blockTimeSeconds]));
  return (originChainId, destinationChainId, confirmations) => {
    const origin = blockSeconds.get(originChainId) ?? 0;
    const measured = measuredMs(originChainId, destinationChainId);
    const rest = measured === undefined ? (blockSeconds.get(destinationChainId) ?? 0) : measured / 1000;
    // The deposit is in one block even if it needs no confirmations.
    return Math.ceil(origin + Math.max(confirmations - 1, 0) * origin + rest);
  };
}
