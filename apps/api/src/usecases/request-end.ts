import type { ChainDirectory, ConnectedRail, RequestEnd } from "../ports/chains.ts";

/** A chain by its id, however it is reached; undefined when it is not configured or not enabled. */
export function endOf(chains: Pick<ChainDirectory, "get" | "rail">, chainId: number): RequestEnd | undefined {
  return chains.get(chainId) ?? chains.rail(chainId);
}

/** Whether it is reached by a rail. */
export function isRail(end: RequestEnd): end is ConnectedRail {
  return "rail" in end;
}
