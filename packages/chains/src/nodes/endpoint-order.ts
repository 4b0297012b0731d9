import { NodeRefusal, RpcFault } from "@causeway/families";
import { createEndpointHealth } from "./endpoint-health.ts";
import type { EndpointState, EndpointStatus } from "./endpoint-pool.ts";
import { RateLimitShareExceeded } from "./rate-limit-share-exceeded.ts";

/** How long a failed endpoint is queried last, ms. */
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
   * Asks the first endpoint, and the next one when it fails.
   * @param asking gets the place of the endpoint in the configuration
   * @param mayPass whether another endpoint may answer after this fault. Default: after any
   * @throws the first fault if all endpoints failed; any other error immediately
   */
  ask<T>(asking: (at: number) => Promise<T>, mayPass?: (fault: RpcFault) => boolean): Promise<T>;
  /** The endpoint that is queried first now. */
  lead(): number;
  /** Call this if an endpoint reported an operation as failed without throwing. */
  noteFault(at: number, fault: unknown): void;
  /** Records an endpoint's head. An endpoint that lags behind is queried after the others. */
  noteHead(at: number, head: { readonly position: bigint; readonly number?: bigint }): void;
  /** Records the block up to which an endpoint was read. */
  noteRead(at: number, number: bigint): void;
  /** The newest block that an endpoint showed; undefined if unknown. */
  headOf(at: number): bigint | undefined;
  /**
   * What the clock of an endpoint that shows no block numbers shows by now, ms; undefined if unknown. Its
   * last head continues at the pace of this computer's clock.
   */
  clockOf(at: number): bigint | undefined;
  statuses(): readonly EndpointStatus[];
}

/** @param hosts of the endpoints, in the order of the configuration; at least one */
export function createEndpointOrder(
  hosts: readonly string[],
  now: () => number = () => performance.now(),
): EndpointOrder {
  const endpoints = hosts.map((host, at) => ({
    at,
    host,
    health: createEndpointHealth(),
    passedOverUntilMs: 0,
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

  const isPassedOver = ({ passedOverUntilMs }: Endpoint): boolean => passedOverUntilMs > now();
  const isLagging = ({ position }: Endpoint): boolean => {
    const due = reached.findLast(({ atMs }) => now() - atMs >= LAG_MS);
    return position !== undefined && due !== undefined && position < due.position;
  };
  const ordered = (): readonly Endpoint[] => {
    const working = endpoints.filter((endpoint) => !isPassedOver(endpoint));
    return [
      ...working.filter((endpoint) => !isLagging(endpoint)),
      ...working.filter(isLagging),
      ...endpoints.filter(isPassedOver),
    ];
  };

  const notePosition = (endpoint: Endpoint, position: bigint): void => {
    const { position: before, pace } = endpoint;
    endpoint.position = position;
    if (before === undefined || pace === undefined || position < before)
      endpoint.pace = { from: position, sinceMs: now(), advancedAtMs: Number.NEGATIVE_INFINITY };
    else if (position > before) endpoint.pace = { ...pace, advancedAtMs: now() };
  };

  /** Whether this endpoint advances, but so slowly that no honest one can be that far ahead of it. */
  const isOutOfReach = (further: bigint, { position = 0n, pace }: Endpoint): boolean => {
    if (pace === undefined || now() - pace.advancedAtMs > STANDSTILL_MS) return false;
    const perMs = Number(position - pace.from) / Math.max(1, now() - pace.sinceMs);
    return Number(further - position) > perMs * MAX_CATCH_UP_MS;
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
    const believed = (isAlone ? second : first)?.position;
    reached = reached.filter(({ position }) => believed !== undefined && position <= believed);
    const best = reached.at(-1);
    if (believed === undefined || (best !== undefined && believed <= best.position)) return;
    // The newest position that was reached LAG_MS ago replaces all earlier ones.
    const due = reached.findLastIndex(({ atMs }) => now() - atMs >= LAG_MS);
    reached = [...reached.slice(Math.max(0, due)), { position: believed, atMs: now() }];
  };

  const note = (endpoint: Endpoint, fault: RpcFault, tookMs: number): void => {
    // Not a fault of the node: it refused a request, lacks old data, or our own share of requests is used up.
    if ((fault instanceof NodeRefusal && !fault.isPause) || fault instanceof RateLimitShareExceeded) return;
    if (fault.kind === "pruned") return;
    endpoint.health.noteFault(fault, tookMs);
    endpoint.lastFault = fault;
    endpoint.passedOverUntilMs = now() + DEMOTED_MS;
    // The head that the endpoint reported before the fault is outdated.
    endpoint.position = undefined;
    endpoint.pace = undefined;
    noteReached();
  };

  const stateOf = (endpoint: Endpoint): EndpointState => {
    if (endpoint.health.isWrongChain) return "wrongChain";
    if (!isPassedOver(endpoint)) return isLagging(endpoint) ? "lagging" : "ok";
    return endpoint.lastFault?.isPause === true ? "paused" : "failing";
  };

  return {
    async ask(asking, mayPass = () => true) {
      let firstFault: RpcFault | undefined;
      for (const endpoint of ordered()) {
        const startedAtMs = now();
        try {
          const answer = await asking(endpoint.at);
          endpoint.health.noteAnswer(now() - startedAtMs);
          endpoint.passedOverUntilMs = 0;
          return answer;
        } catch (fault) {
          if (!(fault instanceof RpcFault) || fault.kind === "aborted") throw fault;
          note(endpoint, fault, now() - startedAtMs);
          if (!mayPass(fault)) throw fault;
          firstFault ??= fault;
        }
      }
      throw firstFault ?? new RangeError("invariant violated: no endpoints");
    },
    lead: () => ordered()[0]?.at ?? 0,
    noteFault: (at, fault) => {
      const endpoint = endpoints[at];
      if (endpoint !== undefined && fault instanceof RpcFault) note(endpoint, fault, 0);
    },
    noteHead: (at, { position, number }) => {
      const endpoint = endpoints[at];
      if (endpoint === undefined) return;
      notePosition(endpoint, position);
      endpoint.head = number;
      endpoint.clock = number === undefined ? { position, atMs: now() } : undefined;
      noteReached();
    },
    noteRead: (at, number) => {
      const endpoint = endpoints[at];
      if (endpoint !== undefined) endpoint.read = number;
    },
    headOf: (at) => endpoints[at]?.head,
    clockOf: (at) => {
      const clock = endpoints[at]?.clock;
      return clock && clock.position + BigInt(Math.floor(now() - clock.atMs));
    },
    statuses: () => {
      const [lead] = ordered();
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
