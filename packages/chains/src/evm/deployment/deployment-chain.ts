import { FAMILY_VM_TYPES } from "@causeway/domain";
import { createPublicClient, type PublicClient } from "viem";
import { createRpcTransport, type RpcTransport } from "../../nodes/transport.ts";
import { checkedTransport } from "../checked-transport.ts";
import { viemTransport } from "../viem-transport.ts";

/** The `vmType` that plans support. */
export const DEPLOYABLE_VM_TYPE = FAMILY_VM_TYPES.evm;

/** A chain to deploy to. */
export interface DeploymentChain {
  readonly chainId: number;
  /** Transport of the first endpoint, like `client`. */
  readonly transport: RpcTransport;
  /** Reads and sends. */
  readonly client: PublicClient;
  /** Further endpoints, which must also have the contracts before they count as deployed. */
  readonly others: readonly PublicClient[];
  close(): Promise<void>;
}

/** Connects to the endpoints of a chain. Refuses an endpoint that serves another chain. */
export function connectForDeployment(chainId: number, rpcUrls: readonly string[]): DeploymentChain {
  const transports = rpcUrls.map(
    (url) => checkedTransport(createRpcTransport({ url, connections: 2 }), chainId).transport,
  );
  const clients = transports.map((transport) =>
    createPublicClient({ transport: viemTransport(transport), cacheTime: 0 }),
  );
  const [transport] = transports;
  const [client, ...others] = clients;
  if (transport === undefined || client === undefined) throw new RangeError("invariant violated: no RPC URL");
  return {
    chainId,
    transport,
    client,
    others,
    async close() {
      await Promise.all(transports.map((endpointTransport) => endpointTransport.close()));
    },
  };
}
