import type { Chain } from "@causeway/domain";
import { quantityOf, type ChainConnection, type EffectsView, type IgnoredLog } from "@causeway/families/evm";
import { readEffectsView } from "./effects-view.ts";
import { createHeadSource } from "./heads.ts";
import { createChainReader } from "./reader.ts";
import { MAX_EVIDENCE_BYTES } from "./receipt-size.ts";
import { RpcFault } from "@causeway/families";
import { createRpcTransport, type RpcTransport, type RpcTransportOptions } from "../nodes/transport.ts";
import type { AttestationRules } from "./attestable.ts";
import { createChainWriter } from "./writer.ts";

export interface ConnectOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url">;
  /** Milliseconds since epoch; default the system's clock. */
  readonly now?: () => number;
  /** Faults that the connection survives by itself (lost sockets, failed polls), without any URL in them. */
  readonly onFault?: (fault: unknown) => void;
  /** Logs that look like deposits and are none. */
  readonly onIgnoredLogs?: (ignored: readonly IgnoredLog[]) => void;
  /** Called with the number of logs that the node gave without being asked, for each such answer. */
  readonly onUnrequestedLogs?: (count: number) => void;
  /** How oracles attest deposits; absent: nothing is settled. */
  readonly attestation?: AttestationRules;
}

export interface EvmConnection extends ChainConnection {
  /**
   * For viem clients (`viemTransport`) and questions that the reader does not answer. Checks the chain id as
   * well.
   */
  readonly transport: RpcTransport;
  /**
   * Asks the node for its chain id. Every call waits for one success of this, so awaiting it is only needed
   * to refuse to start.
   *
   * @throws RpcFault of kind `wrongChain` when the node serves another chain; others when it does not answer
   */
  readonly verify: () => Promise<void>;
  /** How the node tells what a call would do. @throws RpcFault */
  readonly effectsView: () => Promise<EffectsView>;
}

/** Connects to the node of one configured chain and begins to follow its heads. */
export function connectEvmChain(chain: Chain, options: ConnectOptions = {}): EvmConnection {
  // As much as oracles read of a receipt: what they can attest must not be refused here.
  const raw = createRpcTransport({ maxAnswerBytes: MAX_EVIDENCE_BYTES, ...options.rpc, url: chain.rpcUrl });
  const { transport, verify } = checkedTransport(raw, chain.id);
  const heads = createHeadSource({
    transport,
    chainId: chain.id,
    blockTimeSeconds: chain.blockTimeSeconds,
    wsUrl: chain.wsRpcUrl,
    now: options.now ?? Date.now,
    ...(options.onFault === undefined ? {} : { onFault: options.onFault }),
  });
  const reader = createChainReader(chain, transport, {
    knownHead: () => heads.latest,
    ...(options.onIgnoredLogs === undefined ? {} : { onIgnored: options.onIgnoredLogs }),
    ...(options.onUnrequestedLogs === undefined ? {} : { onUnrequestedLogs: options.onUnrequestedLogs }),
    ...(options.attestation === undefined ? {} : { attestation: options.attestation }),
  });
  return {
    reader: {
      ...reader,
      // The one question that must be answered even when the answer is the wrong one.
      remoteChainId: async () => Number(await askChainId(raw)),
    },
    writer: createChainWriter(transport),
    heads,
    transport,
    verify,
    effectsView: async () =>
      await readEffectsView(
        async (method, params) => await transport.request(method, params),
        await reader.gasPrices(),
      ),
    close: async () => {
      await heads.close();
      await transport.close();
    },
  };
}

/**
 * Lets no call through to a node until it has confirmed that it serves `chainId`: money must never meet the
 * wrong chain.
 */
export function checkedTransport(
  inner: RpcTransport,
  chainId: number,
): { readonly transport: RpcTransport; readonly verify: () => Promise<void> } {
  let isVerified = false;
  let checking: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    const servedId = await askChainId(inner);
    if (servedId !== BigInt(chainId)) {
      const reason = `the node serves chain ${servedId}, expected ${chainId}`;
      throw new RpcFault({ kind: "wrongChain", method: "eth_chainId", reason });
    }
    isVerified = true;
  };
  const verify = async (): Promise<void> => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    await checking;
  };
  const transport: RpcTransport = {
    request: async (method, params, callOptions) => {
      if (!isVerified) await verify();
      return await inner.request(method, params, callOptions);
    },
    requestTogether: async (calls, callOptions) => {
      if (!isVerified) await verify();
      return await inner.requestTogether(calls, callOptions);
    },
    close: async () => await inner.close(),
  };
  return { transport, verify };
}

async function askChainId(transport: RpcTransport): Promise<bigint> {
  return quantityOf(await transport.request("eth_chainId", []), "eth_chainId");
}
