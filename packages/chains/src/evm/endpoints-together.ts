import type { Chain } from "@causeway/domain";
import type { ChainConnection } from "@causeway/families/evm";
import type { Electorate } from "../nodes/ask-all.ts";
import { createEndpointPool, type EndpointPool, type EndpointStatus } from "../nodes/endpoint-pool.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import type { ConnectOptions } from "./connect-options.ts";
import type { EvmEndpoint } from "./endpoint.ts";
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

/** Tolerated difference between an endpoint's head and the others'; the larger number of blocks applies. */
const MAX_LAG_BLOCKS = 2;
const MAX_LAG_SECONDS = 2;

export function alone({ reader, writer, heads, transport, ...endpoint }: EvmEndpoint): ConnectedEndpoints {
  const { statuses } = pooled([{ transport, ...endpoint }], { blockTimeSeconds: 1 }, endpoint.headNumber);
  return { reader, writer, heads, transport, statuses };
}

export function poolOf(
  chain: Chain,
  endpoints: readonly EvmEndpoint[],
  { now = Date.now, onFault, onDisagreement, ...options }: ConnectOptions,
): ConnectedEndpoints {
  const quorum = chain.rpcQuorum ?? Math.floor(endpoints.length / 2) + 1;
  const { transport, statuses, stateOf } = pooled(endpoints, chain, () => heads.latest?.number);
  const isExpected = (endpoint: EvmEndpoint): boolean => ANSWERING.includes(stateOf(endpoint));
  const electorate: Electorate<EvmEndpoint> = {
    endpoints,
    quorum,
    isExpected,
    onLate: ({ health }, waitedMs) => health.noteSlow(waitedMs),
    onDisagreement: (question, some) =>
      onDisagreement?.(
        question,
        some.map(({ host }) => host),
      ),
  };
  const ordinary = createChainReader(chain, transport, {
    knownHead: () => heads.latest,
    ...(options.onUnrequestedLogs && { onUnrequestedLogs: options.onUnrequestedLogs }),
  });
  const reader = quorumReader(electorate, ordinary, now);
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
  return { reader, writer: quorumWriter(electorate), heads, transport, statuses };
}

const ANSWERING: readonly string[] = ["ok", "lagging", "ahead"];

function pooled(
  endpoints: Parameters<typeof createEndpointPool>[0],
  { blockTimeSeconds }: Pick<Chain, "blockTimeSeconds">,
  head: () => bigint | undefined,
): EndpointPool {
  return createEndpointPool(endpoints, {
    head,
    maxLagBlocks: BigInt(Math.max(MAX_LAG_BLOCKS, Math.ceil(MAX_LAG_SECONDS / blockTimeSeconds))),
    mayPassElsewhere,
  });
}
