import type { Chain } from "@causeway/domain";
import type { ChainConnection, EffectsView, HeadSource } from "@causeway/families/evm";
import type { EndpointStatus } from "../nodes/endpoint-pool.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { readEffectsView } from "./effects-view.ts";
import { hostsOf } from "../nodes/hosts-of.ts";
import { connectEndpoint, type EvmEndpoint } from "./endpoint.ts";
import { singleEndpoint, poolEndpoints } from "./combine-endpoints.ts";
import { RpcFault } from "@causeway/families";

export interface EvmConnection extends ChainConnection {
  /**
   * For viem clients (`viemTransport`) and requests that the reader does not support. Checks the chain id as
   * well. With several endpoints, uses the best one.
   */
  readonly transport: RpcTransport;
  /**
   * Asks every endpoint for its chain id. All calls check the chain id anyway; await this only to fail early
   * at startup.
   *
   * @throws RpcFault of kind `wrongChain` if every endpoint serves another chain; other kinds if none answers
   */
  readonly verify: () => Promise<void>;
  /** How the node shows the effects of a call. @throws RpcFault */
  readonly effectsView: () => Promise<EffectsView>;
  /** The endpoints in configuration order. */
  readonly endpoints: () => readonly EndpointStatus[];
}

/**
 * Connects to the endpoints of one configured chain and starts to follow its heads. With several endpoints,
 * reads that decide about money require a quorum; all others use the best endpoint.
 */
export function connectEvmChain(chain: Chain, options: ConnectOptions = {}): EvmConnection {
  const urls = chain.rpcUrls ?? [chain.rpcUrl];
  const hosts = hostsOf(urls);
  const followed: { heads?: HeadSource } = {};
  const [first, ...others] = urls.map((url, index) =>
    connectEndpoint(chain, {
      ...options,
      url,
      host: hosts[index] ?? "",
      wsUrl: index === 0 ? chain.wsRpcUrl : undefined,
      // All endpoints see the same logs.
      onIgnoredLogs: index === 0 ? options.onIgnoredLogs : undefined,
      knownHead: () => followed.heads?.latest,
    }),
  );
  if (first === undefined) throw new RangeError(`chain ${chain.name}: httpRpcUrl names no endpoint`);
  const endpoints = [first, ...others];
  const { reader, writer, heads, transport, statuses } =
    others.length === 0 ? singleEndpoint(first) : poolEndpoints(chain, endpoints, options);
  followed.heads = heads;
  return {
    reader,
    writer,
    heads,
    transport,
    verify: async () => await verifyAny(endpoints, options),
    effectsView: async () =>
      await readEffectsView(
        async (method, params) => await transport.request(method, params),
        await reader.gasPrices(),
      ),
    endpoints: statuses,
    close: async () => {
      await heads.close();
      await transport.close();
    },
  };
}

/** @throws the first temporary fault, otherwise the first fault, if no endpoint serves the chain */
async function verifyAny(endpoints: readonly EvmEndpoint[], { onFault }: ConnectOptions): Promise<void> {
  const outcomes = await Promise.allSettled(endpoints.map(async (endpoint) => await endpoint.verify()));
  const failed = outcomes.flatMap((outcome, index) =>
    outcome.status === "rejected" ? [{ reason: outcome.reason, host: endpoints[index]?.host }] : [],
  );
  if (failed.length === endpoints.length)
    throw (failed.find(({ reason }) => !isWrongChain(reason)) ?? failed[0])?.reason;
  for (const { reason, host } of failed) onFault?.(reason, host);
}

function isWrongChain(fault: unknown): boolean {
  return fault instanceof RpcFault && fault.kind === "wrongChain";
}
