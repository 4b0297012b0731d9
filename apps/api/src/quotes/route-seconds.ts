/** A chain and its block time. */
interface TimedChain {
  readonly chain: { readonly id: number; readonly blockTimeSeconds: number };
}

/**
 * Estimates the seconds that routes take: the confirmations of the deposit, then the measured time of the
 * fill. Until a route is measured, the fill takes one block of the destination chain.
 */
export function routeSeconds(
  chains: readonly TimedChain[],
  measuredMs: (originChainId: number, destinationChainId: number) => number | undefined,
): (originChainId: number, destinationChainId: number, confirmations: number) => number {
  const blockSeconds = new Map(chains.map(({ chain }) => [chain.id, chain.blockTimeSeconds]));
  return (originChainId, destinationChainId, confirmations) => {
    const originBlockSeconds = blockSeconds.get(originChainId) ?? 0;
    const fillMs = measuredMs(originChainId, destinationChainId);
    const fillSeconds = fillMs === undefined ? (blockSeconds.get(destinationChainId) ?? 0) : fillMs / 1000;
    // The deposit is in one block even if it needs no confirmations.
    return Math.ceil(originBlockSeconds + Math.max(confirmations - 1, 0) * originBlockSeconds + fillSeconds);
  };
}
