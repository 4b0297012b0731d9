import type { ChainRail } from "@causeway/chains";
import type { ChainDirectory, ConnectedRail, RequestEnd } from "../chains/chains.port.ts";

/** A chain by its id, however it is reached; undefined when it is not configured or not enabled. */
export function endOf<R extends ChainRail>(
  chains: Pick<ChainDirectory<R>, "get" | "rail">,
  chainId: number,
): RequestEnd<R> | undefined {
  return chains.get(chainId) ?? chains.rail(chainId);
}

/** Whether it is reached by a rail. */
export function isRail<R extends ChainRail>(end: RequestEnd<R>): end is ConnectedRail<R> {
  return "rail" in end;
}
