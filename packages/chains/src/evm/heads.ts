import { readBlock, type BlockRef, type Head, type HeadSource } from "@causeway/families/evm";
import { subscribeNewHeads } from "./new-heads-socket.ts";
import { garbage } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

export interface HeadSourceOptions {
  readonly transport: RpcTransport;
  readonly chainId: number;
  readonly blockTimeSeconds: number;
  /** WebSocket URL for `eth_subscribe`; may contain credentials. Undefined: the node is polled. */
  readonly wsUrl: string | undefined;
  /** Milliseconds since epoch. */
  readonly now: () => number;
  /** Called with faults that the source recovers from. They contain no URL. */
  readonly onFault?: (fault: unknown) => void;
}

/**
 * A lower head from polling is accepted after this many consecutive polls; until then, the node may just lag.
 */
const LOWER_POLLS = 3;

/** Failed polls double the pause up to this limit, so that a recovered node is noticed quickly. */
const MAX_FAILED_POLL_MS = 2_000;

/**
 * Starts to listen immediately. Heads come from the socket. While it is missing, or silent for more than 2.5
 * block times (at least half a second), the node is polled four times per block time instead.
 */
export function createHeadSource(options: HeadSourceOptions): HeadSource {
  const blockTimeMs = options.blockTimeSeconds * 1_000;
  const silenceMs = Math.max(500, 2.5 * blockTimeMs);
  const pollMs = Math.min(2_000, Math.max(100, blockTimeMs / 4));
  const listeners = new Set<(head: Head) => void>();
  const stop = new AbortController();
  let latest: Head | undefined;
  let lowerPolls = 0;
  let lastHeaderAt = Number.NEGATIVE_INFINITY;
  let isPolling = false;
  let failedPolls = 0;
  let pollAgainAt = Number.NEGATIVE_INFINITY;

  const deliver = (block: BlockRef): void => {
    if (block.hash === latest?.hash || stop.signal.aborted) return;
    latest = { ...block, seenAtMs: options.now() };
    for (const listener of listeners) {
      try {
        listener(latest);
      } catch (error) {
        // A failing listener must not affect the others.
        options.onFault?.(error);
      }
    }
  };

  const poll = async (): Promise<void> => {
    const method = "eth_getBlockByNumber";
    const answer = await options.transport.request(method, ["latest", false], { signal: stop.signal });
    const block = readBlock(answer, method);
    if (block === undefined) throw garbage(method, "the node returned no latest block");
    const isLower = latest !== undefined && block.number < latest.number;
    lowerPolls = isLower ? lowerPolls + 1 : 0;
    if (isLower && lowerPolls < LOWER_POLLS) return;
    lowerPolls = 0;
    if (socket !== undefined && latest !== undefined && block.number > latest.number + 3n) socket.reconnect();
    deliver(block);
  };

  const tick = (): void => {
    const now = performance.now();
    if (isPolling || now - lastHeaderAt < silenceMs || now < pollAgainAt) return;
    isPolling = true;
    poll()
      .then(() => {
        failedPolls = 0;
      })
      .catch((error: unknown) => {
        failedPolls += 1;
        const pauseMs = Math.min(pollMs * 2 ** failedPolls, MAX_FAILED_POLL_MS);
        pollAgainAt = performance.now() + pauseMs;
        if (!stop.signal.aborted) options.onFault?.(error);
      })
      .finally(() => {
        isPolling = false;
      });
  };

  const socket =
    options.wsUrl === undefined
      ? undefined
      : subscribeNewHeads({
          url: options.wsUrl,
          chainId: options.chainId,
          onHeader: (block) => {
            lastHeaderAt = performance.now();
            deliver(block);
          },
          onFault: (fault) => options.onFault?.(fault),
        });
  const timer = setInterval(tick, pollMs);
  tick();

  return {
    get latest() {
      return latest;
    },
    onHead: (listener) => {
      // Wrap the listener, so that the same function can subscribe twice and unsubscribe once.
      const registered = (head: Head): void => listener(head);
      listeners.add(registered);
      return () => void listeners.delete(registered);
    },
    close: async () => {
      clearInterval(timer);
      listeners.clear();
      stop.abort();
      await socket?.close();
    },
  };
}
