import { RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Blocks all calls to a node until it has confirmed that it serves the cluster, so that nothing is read from
 * or sent to another one.
 * @param genesisHash of the cluster; undefined: not checked
 */
export function clusterTransport(inner: RpcTransport, genesisHash: string | undefined): RpcTransport {
  if (genesisHash === undefined) return inner;
  let isVerified = false;
  let verification: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    if ((await inner.request("getGenesisHash", [])) !== genesisHash)
      throw new RpcFault({
        kind: "wrongChain",
        method: "getGenesisHash",
        reason: "the node serves a different cluster than configured",
      });
    isVerified = true;
  };
  const verify = async (): Promise<void> => {
    verification ??= check().finally(() => {
      verification = undefined;
    });
    await verification;
  };
  return {
    ...inner,
    request: async (...call) => {
      if (!isVerified) await verify();
      return await inner.request(...call);
    },
    requestBatch: async (...calls) => {
      if (!isVerified) await verify();
      return await inner.requestBatch(...calls);
    },
  };
}
