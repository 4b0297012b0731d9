import type { NonEvmConnection } from "@causeway/chains";
import type {
  ChainDirectory,
  ConnectedChain,
  ConnectedNonEvmChain,
  AnyConnectedChain,
} from "../chains/chains.port.ts";

/** A chain of any family by its id. Undefined if it is not configured or not enabled. */
export function connectedChainOf<R extends NonEvmConnection>(
  chains: Pick<ChainDirectory<R>, "get" | "nonEvm">,
  chainId: number,
): AnyConnectedChain<R> | undefined {
  return chains.get(chainId) ?? chains.nonEvm(chainId);
}

/** Every enabled chain of any family. */
export function everyConnectedChain(
  chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
): readonly AnyConnectedChain[] {
  return [...chains.evmChains, ...chains.nonEvmChains];
}

/** A value that has one form on EVM chains and another on all others. */
export function perKind<T, R extends NonEvmConnection = NonEvmConnection>(
  connected: AnyConnectedChain<R>,
  byKind: { evm(connected: ConnectedChain): T; nonEvm(connected: ConnectedNonEvmChain<R>): T },
): T {
  return isNonEvm(connected) ? byKind.nonEvm(connected) : byKind.evm(connected);
}

function isNonEvm<R extends NonEvmConnection>(
  connected: AnyConnectedChain<R>,
): connected is ConnectedNonEvmChain<R> {
  return connected.chain.vmType !== "evm";
}
