import { NATIVE_CURRENCY, type Chain } from "@causeway/domain";
import type { ChainReader, ChainWriter } from "@causeway/families/evm";
import { createEndpointHealth, observedTransport } from "../nodes/endpoint-health.ts";
import { hostsOf } from "../nodes/hosts-of.ts";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";
import { checkedTransport } from "./checked-transport.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { combineEndpoints } from "./combine-endpoints.ts";
import type { FeePolicy } from "./gas-prices.ts";
import { createChainReader } from "./reader.ts";
import { createChainWriter } from "./writer.ts";

/** A chain on which contracts are called, such as the hub: its heads are not followed. */
export interface ChainToCall extends Pick<Chain, "id" | "name" | "rpcUrl" | "rpcUrls" | "rpcQuorum"> {
  readonly fees: FeePolicy;
}

/** The endpoints of a {@link ChainToCall}. Each is used only after it has confirmed its chain id. */
export interface CalledEndpoints {
  /** Ordinary reads: from the best endpoint, or from another one if it fails. */
  readonly transport: RpcTransport;
  /** Returns receipts, nonces and blocks on which a quorum agrees. */
  readonly reader: ChainReader;
  /** Sends to all endpoints. */
  readonly writer: ChainWriter;
  close(): Promise<void>;
}

/** None of the service's contracts is on a chain that it only calls. */
const NO_CONTRACTS = {
  depository: NATIVE_CURRENCY,
  router: NATIVE_CURRENCY,
  approvalProxy: NATIVE_CURRENCY,
  serviceReceiver: NATIVE_CURRENCY,
  multicall3: NATIVE_CURRENCY,
};

/** Opens no connection until the first call. @param connections maximum per endpoint */
export function connectCalledChain(
  { id, rpcUrl, rpcUrls = [rpcUrl], rpcQuorum, fees }: ChainToCall,
  options: Pick<ConnectOptions, "observe" | "onDisagreement" | "now"> & {
    readonly connections?: number;
  } = {},
): CalledEndpoints {
  const { observe, connections = 2, ...endpointOptions } = options;
  const chain = {
    id,
    fees,
    contracts: NO_CONTRACTS,
    tokens: [],
    blockTimeSeconds: 1,
    ...(rpcQuorum !== undefined && { rpcQuorum }),
  };
  const hosts = hostsOf(rpcUrls);
  const [first, ...others] = rpcUrls.map((url, index) => {
    const onCall = observe?.(url);
    const raw = createRpcTransport({ url, connections, ...(onCall && { onCall }) });
    const health = createEndpointHealth();
    const transport = observedTransport(checkedTransport(raw, id).transport, health);
    return {
      host: hosts[index] ?? "",
      transport,
      health,
      headNumber: () => undefined,
      reader: createChainReader(chain, transport),
      writer: createChainWriter(transport),
    };
  });
  if (first === undefined) throw new RangeError("invariant violated: no endpoints");
  const { transport, reader, writer } =
    others.length === 0 ? first : combineEndpoints(chain, [first, ...others], endpointOptions);
  return { transport, reader, writer, close: async () => await transport.close() };
}
