import type { ChainDirectory } from "../../chains/chains.port.ts";

/**
 * Decimals of a chain's own coin.
 *
 * @throws Error when the chain is not configured: what was paid there cannot be valued then
 */
export function nativeDecimals(chains: Pick<ChainDirectory, "profile">, chainId: number): number {
  const chain = chains.profile(chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not configured`);
  return chain.native.decimals;
}
