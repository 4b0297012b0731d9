import type { ChainDirectory, ConnectedChain, AnyConnectedChain } from "../chains/chains.port.ts";
import { unsupportedChain } from "../http/refusals.ts";

/** @throws ServiceError UNSUPPORTED_CHAIN naming the field */
export function findChain(
  chains: Pick<ChainDirectory, "get">,
  chainId: number,
  field = "chainId",
): ConnectedChain {
  const connected = chains.get(chainId);
  if (connected === undefined) throw unsupportedChain(chainId, field);
  return connected;
}

/**
 * Like {@link findChain}, for chains of any family. @throws ServiceError UNSUPPORTED_CHAIN naming the field
 */
export function findEnd(
  chains: Pick<ChainDirectory, "get" | "nonEvm">,
  chainId: number,
  field = "chainId",
): AnyConnectedChain {
  return chains.nonEvm(chainId) ?? findChain(chains, chainId, field);
}
