import { NodeRefusal, RpcFault } from "@causeway/families";
import { createEndpointHealth } from "./endpoint-health.ts";
import type { EndpointState, EndpointStatus } from "./endpoint-pool.ts";
import { RateLimitShareExceeded } from "./rate-limit-share-exceeded.ts";

/** How long an endpoint is queried last after it failed, ms. */
const DEMOTED_MS = 30_000;
/** An endpoint lags if another endpoint reached a later position at least this long ago, ms. */
const LAG_MS = 30_000;
/**
 * Of two endpoints, a head is implausible if the other one, at its pace, would take longer to reach it, ms.
 */
const MAX_CATCH_UP_MS = 86_400_000;
/** An endpoint whose head has not advanced for this long stands still, ms. Bitcoin can take an hour. */
const STANDSTILL_MS = 7_200_000;

/**
 * Endpoints that are queried in the order of the configuration, each for whole operations: what one operation
 * reads, such as whether a payment can still count, must come from one node.
 */
export interface EndpointOrder {
  /**
   * Runs an operation with the first endpoint, or with the next one if it fails.
   * @param operation gets the index of the endpoint in the configuration
   * @param mayPass whether another endpoint may answer after this fault. Default: after any
   * @throws the first fault if all endpoints failed; any other error immediately
   */
  run<T>(operation: (index: number) => Promise<T>, mayPass?: (fault: RpcFault) => boolean): Promise<T>;
  /** The index of the endpoint that is queried first now. */
  lead(): number;
  /** Call this if an endpoint reported an operation as failed without throwing. */
  noteFault(index: number, fault: unknown): void;
  /** Records an endpoint's head. An endpoint that lags behind is queried after the others. */
  noteHead(index: number, head: { readonly position: bigint; readonly number?: bigint }): void;
  /** Records the block up to which an endpoint was read. */
  noteRead(index: number, number: bigint): void;
  /** The newest block that an endpoint showed; undefined if unknown. */
  headOf(index: number): bigint | undefined;
  /**
   * What the clock of an endpoint that shows no block numbers shows by now, ms; undefined if unknown. Its
   * last head continues at the pace of this computer's clock.
   */
  clockOf(index: number): bigint | undefined;
  statuses(): readonly EndpointStatus[];
}

/** @param hosts of the endpoints, in the order of the configuration; at least one */
export function createEndpointOrder(
  hosts: readonly string[],
  now: () => number = () => performance.now(),
): EndpointOrder {
  const endpoints = hosts.map((host, index) => ({
    at: index,
    host,
    health: createEndpointHealth(),
    demotedUntilMs: 0,
    lastFault: undefined as RpcFault | undefined,
    position: undefined as bigint | undefined,
    /** The endpoint's pace since it was connected or failed. */
    pace: undefined as
      | { readonly from: bigint; readonly sinceMs: number; readonly advancedAtMs: number }
      | undefined,
    head: undefined as bigint | undefined,
    clock: undefined as { readonly position: bigint; readonly atMs: number } | undefined,
    read: undefined as bigint | undefined,
  }));
  /** When the endpoints together were the first to reach a position, oldest first. */
  let reached: readonly { readonly position: bigint; readonly atMs: number }[] = [];
  type Endpoint = (typeof endpoints)[number];

  const isDemoted = ({ demotedUntilMs: passedOverUntilMs }: Endpoint): boolean => passedOverUntilMs > now();
  const isLagging = ({ position }: Endpoint): boolean => {
    const settledReach = reached.findLast(({ atMs }) => now() - atMs >= LAG_MS);
    return position !== undefined && settledReach !== undefined && position < settledReach.position;
  };
  const rankEndpoints = (): readonly Endpoint[] => {
    const working = endpoints.filter((endpoint) => !isDemoted(endpoint));
    return [
      ...working.filter((endpoint) => !isLagging(endpoint)),
      ...working.filter(isLagging),
      ...endpoints.filter(isDemoted),
    ];
  };

  const notePosition = (endpoint: Endpoint, position: bigint): void => {
    const { position: previous, pace } = endpoint;
    endpoint.position = position;
    if (previous === undefined || pace === undefined || position < previous)
      endpoint.pace = { from: position, sinceMs: now(), advancedAtMs: Number.NEGATIVE_INFINITY };
    else if (position > previous) endpoint.pace = { ...pace, advancedAtMs: now() };
  };

  /** Whether this endpoint advances, but so slowly that no honest one can be that far ahead of it. */
  const isOutOfReach = (target: bigint, { position = 0n, pace }: Endpoint): boolean => {
    if (pace === undefined || now() - pace.advancedAtMs > STANDSTILL_MS) return false;
    const perMs = Number(position - pace.from) / Math.max(1, now() - pace.sinceMs);
    return Number(target - position) > perMs * MAX_CATCH_UP_MS;
  };

  /**
   * With three or more endpoints, one endpoint alone does not prove the height of the chain. With two it
   * does, as long as its head does not decrease and the other endpoint can plausibly reach it.
   */
  const noteReached = (): void => {
    const [first, second, third] = endpoints
      .flatMap((endpoint) =>
        endpoint.position === undefined ? [] : [{ endpoint, position: endpoint.position }],
      )
      .toSorted(({ position: a }, { position: b }) => (a < b ? 1 : a > b ? -1 : 0));
    const isAlone =
      first !== undefined &&
      second !== undefined &&
      (third !== undefined || isOutOfReach(first.position, second.endpoint));
    const trusted = (isAlone ? second : first)?.position;
    reached = reached.filter(({ position }) => trusted !== undefined && position <= trusted);
    const lastReached = reached.at(-1);
    if (trusted === undefined || (lastReached !== undefined && trusted <= lastReached.position)) return;
    // The newest position that was reached LAG_MS ago replaces all earlier ones.
    const settledIndex = reached.findLastIndex(({ atMs }) => now() - atMs >= LAG_MS);
    reached = [...reached.slice(Math.max(0, settledIndex)), { position: trusted, atMs: now() }];
  };

  const recordFault = (endpoint: Endpoint, fault: RpcFault, tookMs: number): void => {
    // Not a fault of the node: it refused a request, lacks old data, or our own share of requests is used up.
    if ((fault instanceof NodeRefusal && !fault.isPause) || fault instanceof RateLimitShareExceeded) return;
    if (fault.kind === "pruned") return;
    endpoint.health.noteFault(fault, tookMs);
    endpoint.lastFault = fault;
    endpoint.demotedUntilMs = now() + DEMOTED_MS;
    // The head that the endpoint reported before the fault is outdated.
    endpoint.position = undefined;
    endpoint.pace = undefined;
    noteReached();
  };

  const stateOf = (endpoint: Endpoint): EndpointState => {
    if (endpoint.health.isWrongChain) return "wrongChain";
    if (!isDemoted(endpoint)) return isLagging(endpoint) ? "lagging" : "ok";
    return endpoint.lastFault?.isPause === true ? "paused" : "failing";
  };

  return {
    async run(operation, mayPass = () => true) {
      let firstFault: RpcFault | undefined;
      for (const endpoint of rankEndpoints()) {
        const startedAtMs = now();
        try {
          const answer = await operation(endpoint.at);
          endpoint.health.noteAnswer(now() - startedAtMs);
          endpoint.demotedUntilMs = 0;
          return answer;
        } catch (fault) {
          if (!(fault instanceof RpcFault) || fault.kind === "aborted") throw fault;
          recordFault(endpoint, fault, now() - startedAtMs);
          if (!mayPass(fault)) throw fault;
          firstFault ??= fault;
        }
      }
      throw firstFault ?? new RangeError("invariant violated: no endpoints");
    },
    lead: () => rankEndpoints()[0]?.at ?? 0,
    noteFault: (index, fault) => {
      const endpoint = endpoints[index];
      if (endpoint !== undefined && fault instanceof RpcFault) recordFault(endpoint, fault, 0);
    },
    noteHead: (index, { position, number }) => {
      const endpoint = endpoints[index];
      if (endpoint === undefined) return;
      notePosition(endpoint, position);
      endpoint.head = number;
      endpoint.clock = number === undefined ? { position, atMs: now() } : undefined;
      noteReached();
    },
    noteRead: (index, number) => {
      const endpoint = endpoints[index];
      if (endpoint !== undefined) endpoint.read = number;
    },
    headOf: (index) => endpoints[index]?.head,
    clockOf: (index) => {
      const clock = endpoints[index]?.clock;
      return clock && clock.position + BigInt(Math.floor(now() - clock.atMs));
    },
    statuses: () => {
      const [lead] = rankEndpoints();
      return endpoints.map((endpoint) => ({
        host: endpoint.host,
        state: stateOf(endpoint),
        isLead: endpoint === lead,
        headNumber: endpoint.head ?? endpoint.read,
        latencyMs: endpoint.health.latencyMs,
      }));
    },
  };
}
