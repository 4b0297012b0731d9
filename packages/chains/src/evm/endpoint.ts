import type { Chain } from "@causeway/domain";
import type { ChainReader, ChainWriter, HeadSource } from "@causeway/families/evm";
import { createEndpointHealth, observedTransport } from "../nodes/endpoint-health.ts";
import type { PoolEndpoint } from "../nodes/endpoint-pool.ts";
import { createRpcTransport } from "../nodes/transport.ts";
import { checkedTransport } from "./checked-transport.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { createHeadSource } from "./heads.ts";
import { createChainReader } from "./reader.ts";
import { MAX_EVIDENCE_BYTES } from "./receipt-size.ts";
import { createChainWriter } from "./writer.ts";

/** One endpoint of an EVM chain, with everything that is read from it alone. */
export interface EvmEndpoint extends PoolEndpoint {
  readonly reader: ChainReader;
  readonly writer: ChainWriter;
  readonly heads: HeadSource;
  /** @throws RpcFault */
  readonly verify: () => Promise<void>;
}

export interface EndpointOptions extends Omit<ConnectOptions, "onIgnoredLogs"> {
  readonly onIgnoredLogs: ConnectOptions["onIgnoredLogs"];
  readonly url: string;
  readonly host: string;
  /** WebSocket URL of this endpoint; undefined: it is polled. */
  readonly wsUrl: string | undefined;
  /** The newest known head of the chain, from any endpoint. */
  readonly knownHead: () => HeadSource["latest"];
}

/** Connects one endpoint and starts to follow its heads. */
export function connectEndpoint(chain: Chain, options: EndpointOptions): EvmEndpoint {
  const { url, host, onFault } = options;
  const onCall = options.observe?.(url);
  const raw = createRpcTransport({
    // The same limit as in oracles, so that everything that they can attest is readable here.
    maxAnswerBytes: MAX_EVIDENCE_BYTES,
    ...(onCall && { onCall }),
    ...options.rpc,
    url,
  });
  const health = createEndpointHealth();
  const checked = checkedTransport(raw, chain.id);
  const transport = observedTransport(checked.transport, health);
  const heads = createHeadSource({
    transport,
    chainId: chain.id,
    blockTimeSeconds: chain.blockTimeSeconds,
    wsUrl: options.wsUrl,
    now: options.now ?? Date.now,
    ...(onFault && { onFault: (fault) => onFault(fault, host) }),
  });
  const reader = createChainReader(chain, transport, {
    knownHead: options.knownHead,
    ...(options.onIgnoredLogs && { onIgnored: options.onIgnoredLogs }),
    ...(options.onUnrequestedLogs && { onUnrequestedLogs: options.onUnrequestedLogs }),
    ...(options.attestation && { attestation: options.attestation }),
  });
  return {
    host,
    transport,
    health,
    headNumber: () => heads.latest?.number,
    heads,
    reader: {
      ...reader,
      // The one request that must work even if the endpoint serves another chain.
      remoteChainId: createChainReader(chain, raw).remoteChainId,
    },
    writer: createChainWriter(transport),
    verify: checked.verify,
  };
}
