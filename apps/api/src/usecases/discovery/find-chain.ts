import { ServiceError } from "@causeway/domain";
import type { ChainDirectory, ConnectedChain, RequestEnd } from "../../ports/chains.ts";

/** @throws ServiceError UNSUPPORTED_CHAIN naming the field */
export function findChain(
  chains: Pick<ChainDirectory, "get">,
  chainId: number,
  field = "chainId",
): ConnectedChain {
  const connected = chains.get(chainId);
  if (connected === undefined)
    throw new ServiceError("UNSUPPORTED_CHAIN", `Chain ${chainId} is not supported`, { field });
  return connected;
}

/** The same, however the chain is reached. @throws ServiceError UNSUPPORTED_CHAIN naming the field */
export function findEnd(
  chains: Pick<ChainDirectory, "get" | "rail">,
  chainId: number,
  field = "chainId",
): RequestEnd {
  return chains.rail(chainId) ?? findChain(chains, chainId, field);
}
