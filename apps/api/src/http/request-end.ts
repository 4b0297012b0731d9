import type { NonEvmConnection } from "@causeway/chains";
import type {
  ChainDirectory,
  ConnectedChain,
  ConnectedNonEvmChain,
  RequestEnd,
} from "../chains/chains.port.ts";

/** A chain of any family by its id. Undefined if it is not configured or not enabled. */
export function endOf<R extends NonEvmConnection>(
  chains: Pick<ChainDirectory<R>, "get" | "nonEvm">,
  chainId: number,
): RequestEnd<R> | undefined {
  return chains.get(chainId) ?? chains.nonEvm(chainId);
}

/** Every enabled chain of any family. */
export function everyEnd(chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">): readonly RequestEnd[] {
  return [...chains.evmChains, ...chains.nonEvmChains];
}

/** A value that has one form on EVM chains and another on all others. */
export function perKind<T, R extends NonEvmConnection = NonEvmConnection>(
  end: RequestEnd<R>,
  byKind: { evm(end: ConnectedChain): T; nonEvm(end: ConnectedNonEvmChain<R>): T },
): T {
  return isNonEvm(end) ? byKind.nonEvm(end) : byKind.evm(end);
}

function isNonEvm<R extends NonEvmConnection>(end: RequestEnd<R>): end is ConnectedNonEvmChain<R> {
  return end.chain.vmType !== "evm";
}
