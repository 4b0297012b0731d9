import { NodeRefusal, RpcFault } from "@causeway/families";
import type { RpcTransport } from "./transport.ts";

/** The health of one endpoint of a pool. */
export interface EndpointHealth {
  /** Moving average of the newest calls, ms; undefined before the first. */
  readonly latencyMs: number | undefined;
  /** Whether most of the newest calls got no usable answer. */
  readonly isFailing: boolean;
  /** Whether a call took longer than {@link SLOW_MS}, and none has been faster since. */
  readonly isSlow: boolean;
  /** Share of recent calls without a usable answer, 0 to 1, weighted toward newer ones. */
  readonly faultRate: number;
  /** Whether the endpoint served another chain than configured at the last check. */
  readonly isWrongChain: boolean;
  noteAnswer(tookMs: number): void;
  noteFault(fault: unknown, tookMs: number): void;
  /** A call has been pending for this long, ms. */
  noteSlow(waitedMs: number): void;
}

/** Milliseconds after which an endpoint counts as slow. */
export const SLOW_MS = 1_000;

/** Weight of the newest call in the averages. */
const WEIGHT = 0.2;
/** Reached by four consecutive calls without an answer, and left by four with one. */
const FAILING_RATE = 0.5;
/** A pending call is expected to take several times as long. */
const SLOW_FACTOR = 4;
/**
 * Latencies below this, ms, count as equal, and so do latencies with the same power of two. Of equal
 * endpoints, the first in the configuration is used.
 */
const MIN_COMPARED_MS = 32;
/** Approximate cost of a fault, ms: a quick endpoint that often fails is not better than a slow one. */
const FAULT_COST_MS = 1_000;

export function createEndpointHealth(): EndpointHealth {
  let latencyMs: number | undefined;
  let faultRate = 0;
  let isWrongChain = false;
  let isSlow = false;
  const noteLatency = (ms: number): void => {
    latencyMs = latencyMs === undefined ? ms : latencyMs + WEIGHT * (ms - latencyMs);
  };
  return {
    get latencyMs() {
      return latencyMs;
    },
    get faultRate() {
      return faultRate;
    },
    get isSlow() {
      return isSlow;
    },
    get isFailing() {
      return faultRate > FAILING_RATE;
    },
    get isWrongChain() {
      return isWrongChain;
    },
    noteAnswer: (tookMs) => {
      isWrongChain = false;
      isSlow = tookMs >= SLOW_MS;
      faultRate -= WEIGHT * faultRate;
      noteLatency(tookMs);
    },
    noteFault: (fault, tookMs) => {
      const kind = fault instanceof RpcFault ? fault.kind : undefined;
      if (kind === "aborted") return;
      if (kind === "wrongChain") isWrongChain = true;
      faultRate += WEIGHT * (1 - faultRate);
      // A refused connection is quick, but does not measure speed.
      if (kind === "deadline") noteLatency(tookMs);
    },
    noteSlow: (waitedMs) => {
      isSlow ||= waitedMs >= SLOW_MS;
      noteLatency(waitedMs * SLOW_FACTOR);
    },
  };
}

/** Ranks endpoints of the same state: the lowest cost is used first. */
export function costOf({ latencyMs = 0, faultRate }: EndpointHealth): number {
  return Math.floor(Math.log2(Math.max(MIN_COMPARED_MS, latencyMs + FAULT_COST_MS * faultRate)));
}

/** The same transport, with its calls recorded in the health of its endpoint. */
export function observedTransport(inner: RpcTransport, health: EndpointHealth): RpcTransport {
  const observe = async <T>(call: () => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now();
    try {
      const answer = await call();
      health.noteAnswer(performance.now() - startedAtMs);
      return answer;
    } catch (fault) {
      const tookMs = performance.now() - startedAtMs;
      if (isAnswer(fault)) health.noteAnswer(tookMs);
      else health.noteFault(fault, tookMs);
      throw fault;
    }
  };
  return {
    ...inner,
    request: async (...call) => await observe(async () => await inner.request(...call)),
    requestBatch: async (...calls) => await observe(async () => await inner.requestBatch(...calls)),
  };
}

/** A refusal shows that the endpoint works, except for rate limits; so does a size limit. */
function isAnswer(fault: unknown): boolean {
  if (fault instanceof NodeRefusal) return !fault.isPause;
  return fault instanceof RpcFault && (fault.kind === "batchRefused" || fault.kind === "tooLarge");
}
