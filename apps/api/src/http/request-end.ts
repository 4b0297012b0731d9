import type { ChainRail } from "@causeway/chains";
import type { ChainDirectory, ConnectedRail, RequestEnd } from "../chains/chains.port.ts";

/** A chain of any family by its id. Undefined if it is not configured or not enabled. */
export function endOf<R extends ChainRail>(
  chains: Pick<ChainDirectory<R>, "get" | "rail">,
  chainId: number,
): RequestEnd<R> | undefined {
  return chains.get(chainId) ?? chains.rail(chainId);
}

/** Every enabled chain of any family. */
export function everyEnd(chains: Pick<ChainDirectory, "all" | "rails">): readonly RequestEnd[] {
  return [...chains.all, ...chains.rails];
}

/** Whether it is a non-EVM chain. */
export function isNonEvm<R extends ChainRail>(end: RequestEnd<R>): end is ConnectedRail<R> {
  return "rail" in end;
}
