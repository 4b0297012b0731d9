import { RpcFault } from "@causeway/families";
import { costOf, type EndpointHealth } from "./endpoint-health.ts";
import type { RpcTransport } from "./transport.ts";

/** One of several endpoints of a chain. */
export interface PoolEndpoint {
  /** Host and port of its URL, without the rest, which may contain credentials. */
  readonly host: string;
  /** Checks the chain id, and records every call in `health`. */
  readonly transport: RpcTransport;
  readonly health: EndpointHealth;
  /** The newest block that the endpoint announced; undefined before the first. */
  readonly headNumber: () => bigint | undefined;
}

/**
 * `lagging` and `ahead`: its newest block is below, or above, the head of enough endpoints. `slow`: its
 * newest calls took more than a second. `paused`: it rate-limited this service. `failing`: most of the newest
 * calls got no answer. `wrongChain`: it serves another chain and is not used.
 */
export type EndpointState = "ok" | "lagging" | "ahead" | "slow" | "paused" | "failing" | "wrongChain";

/** An endpoint in `GET /chains/health` and the metrics. */
export interface EndpointStatus {
  readonly host: string;
  readonly state: EndpointState;
  /** Whether ordinary reads use it first. */
  readonly isLead: boolean;
  readonly headNumber: bigint | undefined;
  readonly latencyMs: number | undefined;
}

export interface PoolOptions {
  /** The newest block that enough endpoints have reached; undefined before the first. */
  readonly head: () => bigint | undefined;
  /** Tolerated difference from `head`, in blocks. */
  readonly maxLagBlocks: bigint;
  /** Whether another endpoint may answer what one refused. */
  readonly mayPassElsewhere: (fault: unknown) => boolean;
}

export interface EndpointPool {
  /**
   * Sends each request to the best endpoint. If that endpoint fails or is late, the request is also sent to
   * the next endpoint.
   */
  readonly transport: RpcTransport;
  readonly stateOf: (endpoint: PoolEndpoint) => EndpointState;
  readonly statuses: () => readonly EndpointStatus[];
}

/** Endpoints in later states are used only if those in earlier ones fail. */
const ORDER: readonly EndpointState[] = ["ok", "ahead", "lagging", "slow", "paused", "failing", "wrongChain"];

/** The next endpoint is tried after this multiple of the first one's latency, but at least this time. */
const LATE_FACTOR = 4;
const MIN_LATE_MS = 400;

export function createEndpointPool(endpoints: readonly PoolEndpoint[], options: PoolOptions): EndpointPool {
  const { maxLagBlocks } = options;

  const stateOf = ({ health, transport, headNumber }: PoolEndpoint): EndpointState => {
    if (health.isWrongChain) return "wrongChain";
    if ((transport.pauseLeftMs?.() ?? 0) > 0) return "paused";
    if (health.isFailing) return "failing";
    if (health.isSlow) return "slow";
    const [endpointHead, head] = [headNumber(), options.head()];
    if (endpointHead === undefined || head === undefined) return "ok";
    if (endpointHead + maxLagBlocks < head) return "lagging";
    return endpointHead > head + maxLagBlocks ? "ahead" : "ok";
  };

  const rankEndpoints = (): readonly PoolEndpoint[] =>
    endpoints
      .map((endpoint) => ({
        endpoint,
        order: ORDER.indexOf(stateOf(endpoint)),
        cost: costOf(endpoint.health),
      }))
      // Sorting is stable, so the configuration order decides among equals.
      .toSorted((a, b) => a.order - b.order || a.cost - b.cost)
      .map(({ endpoint }) => endpoint);

  const run = async <T>(call: (transport: RpcTransport) => Promise<T>): Promise<T> =>
    await new Promise<T>((resolve, reject) => {
      const order = rankEndpoints();
      let next = 0;
      let inFlight = 0;
      let timer: NodeJS.Timeout | undefined;
      let firstFault: unknown;
      let isDone = false;
      const settle = (complete: () => void): void => {
        isDone = true;
        clearTimeout(timer);
        complete();
      };
      const start = (): void => {
        clearTimeout(timer);
        const endpoint = order[next];
        if (endpoint === undefined) return;
        next += 1;
        inFlight += 1;
        call(endpoint.transport).then(
          (answer) => settle(() => resolve(answer)),
          (fault: unknown) => {
            inFlight -= 1;
            firstFault ??= fault;
            if (isDone) return;
            if (isConclusive(fault)) settle(() => reject(fault));
            else if (next < order.length) start();
            else if (inFlight === 0) settle(() => reject(firstFault));
          },
        );
        if (next === order.length) return;
        const lateMs = Math.max(MIN_LATE_MS, LATE_FACTOR * (endpoint.health.latencyMs ?? 0));
        timer = setTimeout(() => {
          endpoint.health.noteSlow(lateMs);
          start();
        }, lateMs);
      };
      start();
    });

  /** Another endpoint would respond the same, or the caller has aborted the request. */
  const isConclusive = (fault: unknown): boolean =>
    (fault instanceof RpcFault && fault.kind === "aborted") || !options.mayPassElsewhere(fault);

  return {
    stateOf,
    statuses: () => {
      const [lead] = rankEndpoints();
      return endpoints.map((endpoint) => ({
        host: endpoint.host,
        state: stateOf(endpoint),
        isLead: endpoint === lead,
        headNumber: endpoint.headNumber(),
        latencyMs: endpoint.health.latencyMs,
      }));
    },
    transport: {
      request: async (...call) => await run(async (transport) => await transport.request(...call)),
      requestBatch: async (...calls) =>
        await run(async (transport) => await transport.requestBatch(...calls)),
      close: async () => {
        await Promise.all(endpoints.map(async ({ transport }) => await transport.close()));
      },
    },
  };
}
