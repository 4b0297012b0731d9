import { quantityOf } from "@causeway/families/evm";
import { RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Blocks all calls to a node until it has confirmed that it serves `chainId`, so that nothing is read from or
 * sent to the wrong chain.
 */
export function checkedTransport(
  inner: RpcTransport,
  chainId: number,
): { readonly transport: RpcTransport; readonly verify: () => Promise<void> } {
  let isVerified = false;
  let verification: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    const servedId = await fetchChainId(inner);
    if (servedId !== BigInt(chainId)) {
      const reason = `the node serves chain ${servedId}, expected ${chainId}`;
      throw new RpcFault({ kind: "wrongChain", method: "eth_chainId", reason });
    }
    isVerified = true;
  };
  const verify = async (): Promise<void> => {
    verification ??= check().finally(() => {
      verification = undefined;
    });
    await verification;
  };
  const transport: RpcTransport = {
    ...inner,
    request: async (method, params, callOptions) => {
      if (!isVerified) await verify();
      return await inner.request(method, params, callOptions);
    },
    requestBatch: async (calls, callOptions) => {
      if (!isVerified) await verify();
      return await inner.requestBatch(calls, callOptions);
    },
    close: async () => await inner.close(),
  };
  return { transport, verify };
}

async function fetchChainId(transport: RpcTransport): Promise<bigint> {
  return quantityOf(await transport.request("eth_chainId", []), "eth_chainId");
}
