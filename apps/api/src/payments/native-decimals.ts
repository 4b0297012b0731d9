import type { ChainDirectory } from "../chains/chains.port.ts";

/**
 * Decimals of a chain's native token.
 * @throws Error if the chain is not configured: payments there cannot be valued
 */
export function nativeDecimals(chains: Pick<ChainDirectory, "profile">, chainId: number): number {
  const chain = chains.profile(chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not configured`);
  return chain.native.decimals;
}
