import type { Chain } from "@causeway/domain";
import type { BlockRef, ChainConnection, ChainReader, ChainWriter } from "@causeway/families/evm";
import type { Electorate } from "../nodes/query-all.ts";
import {
  createEndpointPool,
  type EndpointPool,
  type EndpointStatus,
  type PoolEndpoint,
} from "../nodes/endpoint-pool.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import type { ConnectOptions } from "./connect-options.ts";
import type { EvmEndpoint } from "./endpoint.ts";
import type { FeePolicy } from "./gas-prices.ts";
import { createPooledHeads } from "./pooled-heads.ts";
import { quorumReader } from "./quorum-reader.ts";
import { quorumWriter } from "./quorum-writer.ts";
import { createChainReader } from "./reader.ts";
import { mayPassElsewhere } from "./rpc-errors.ts";

/** The endpoints of a chain as one connection. */
export interface ConnectedEndpoints extends Omit<ChainConnection, "close"> {
  readonly transport: RpcTransport;
  readonly statuses: () => readonly EndpointStatus[];
}

/** The facts of a chain that are needed even if its heads are not followed. */
export interface ReadChain extends Pick<
  Chain,
  "id" | "contracts" | "tokens" | "blockTimeSeconds" | "rpcQuorum"
> {
  readonly fees: FeePolicy;
}

/** One endpoint with its own reader and writer. */
type ReadWriteEndpoint = PoolEndpoint & { readonly reader: ChainReader; readonly writer: ChainWriter };

type CombineOptions = Pick<ConnectOptions, "now" | "onDisagreement" | "onUnrequestedLogs"> & {
  /** The newest known head. Absent: heads are not followed. */
  readonly knownHead?: () => BlockRef | undefined;
};

/** Tolerated lag of an endpoint, in blocks and in seconds; the larger of the two applies. */
const MAX_LAG_BLOCKS = 2;
const MAX_LAG_SECONDS = 2;

export function singleEndpoint({
  reader,
  writer,
  heads,
  transport,
  ...endpoint
}: EvmEndpoint): ConnectedEndpoints {
  const { statuses } = createPool([{ transport, ...endpoint }], { blockTimeSeconds: 1 }, endpoint.headNumber);
  return { reader, writer, heads, transport, statuses };
}

/** Combines the endpoints of one chain: reads that decide about money require a quorum. */
export function combineEndpoints<E extends ReadWriteEndpoint>(
  chain: ReadChain,
  endpoints: readonly E[],
  { now = Date.now, onDisagreement, onUnrequestedLogs, knownHead }: CombineOptions,
): Pick<ConnectedEndpoints, "reader" | "writer" | "transport" | "statuses"> & {
  readonly quorum: number;
  readonly isExpected: (endpoint: E) => boolean;
} {
  const quorum = chain.rpcQuorum ?? Math.floor(endpoints.length / 2) + 1;
  const { transport, statuses, stateOf } = createPool(endpoints, chain, () => knownHead?.()?.number);
  const isExpected = (endpoint: E): boolean => ANSWERING.includes(stateOf(endpoint));
  const electorate: Electorate<E> = {
    endpoints,
    quorum,
    isExpected,
    onLate: ({ health }, waitedMs) => health.noteSlow(waitedMs),
    onDisagreement: (question, contradicting) =>
      onDisagreement?.(
        question,
        contradicting.map(({ host }) => host),
      ),
  };
  const ordinary = createChainReader(chain, transport, {
    ...(knownHead && { knownHead }),
    ...(onUnrequestedLogs && { onUnrequestedLogs }),
  });
  const reader = quorumReader(electorate, ordinary, now);
  return { reader, writer: quorumWriter(electorate), transport, statuses, quorum, isExpected };
}

/** {@link combineEndpoints}, with the heads that the endpoints follow. */
export function poolEndpoints(
  chain: Chain,
  endpoints: readonly EvmEndpoint[],
  { now = Date.now, onFault, ...options }: ConnectOptions,
): ConnectedEndpoints {
  const { quorum, isExpected, reader, ...combined } = combineEndpoints(chain, endpoints, {
    ...options,
    now,
    knownHead: () => heads.latest,
  });
  const heads = createPooledHeads({
    sources: endpoints.map((endpoint) => ({
      heads: endpoint.heads,
      isAlive: () => isExpected(endpoint),
    })),
    quorum,
    block: reader.block,
    now,
    retryMs: Math.min(2_000, Math.max(100, chain.blockTimeSeconds * 250)),
    onFault: (fault) => onFault?.(fault),
  });
  return { reader, heads, ...combined };
}

const ANSWERING: readonly string[] = ["ok", "lagging", "ahead"];

function createPool(
  endpoints: readonly PoolEndpoint[],
  { blockTimeSeconds }: Pick<Chain, "blockTimeSeconds">,
  head: () => bigint | undefined,
): EndpointPool {
  return createEndpointPool(endpoints, {
    head,
    maxLagBlocks: BigInt(Math.max(MAX_LAG_BLOCKS, Math.ceil(MAX_LAG_SECONDS / blockTimeSeconds))),
    mayPassElsewhere,
  });
}
