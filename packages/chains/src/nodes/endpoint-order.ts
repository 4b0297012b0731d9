import { NodeRefusal, RpcFault } from "@causeway/families";
import { createEndpointHealth } from "./endpoint-health.ts";
import type { EndpointState, EndpointStatus } from "./endpoint-pool.ts";
import { ShareUsedUp } from "./share-used-up.ts";

/** How long an endpoint that failed is asked last, ms. */
const PASSED_OVER_MS = 30_000;

/**
 * Endpoints that are asked in the order of the configuration, each for whole operations: what one operation
 * reads, such as whether a payment can still count, must come from one node.
 */
export interface EndpointOrder {
  /**
   * Asks the first endpoint, and the next one when it fails.
   * @param asking gets the place of the endpoint in the configuration
   * @param mayPass whether another endpoint may answer after this fault. Default: after any
   * @throws the first fault when all failed; at once what is no fault of an endpoint
   */
  ask<T>(asking: (at: number) => Promise<T>, mayPass?: (fault: RpcFault) => boolean): Promise<T>;
  /** The endpoint that is asked first now. */
  lead(): number;
  /** It reported an operation as failed without throwing. */
  noteFault(at: number, fault: unknown): void;
  noteHead(at: number, head: bigint): void;
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
    head: undefined as bigint | undefined,
  }));
  type Endpoint = (typeof endpoints)[number];

  const isPassedOver = ({ passedOverUntilMs }: Endpoint): boolean => passedOverUntilMs > now();
  const ordered = (): readonly Endpoint[] => [
    ...endpoints.filter((endpoint) => !isPassedOver(endpoint)),
    ...endpoints.filter(isPassedOver),
  ];

  const note = (endpoint: Endpoint, fault: RpcFault, tookMs: number): void => {
    // A node that refuses a request works, and so does one whose share of requests is used up.
    if ((fault instanceof NodeRefusal && !fault.isPause) || fault instanceof ShareUsedUp) return;
    endpoint.health.noteFault(fault, tookMs);
    endpoint.lastFault = fault;
    endpoint.passedOverUntilMs = now() + PASSED_OVER_MS;
  };

  const stateOf = (endpoint: Endpoint): EndpointState => {
    if (endpoint.health.isWrongChain) return "wrongChain";
    if (!isPassedOver(endpoint)) return "ok";
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
    noteHead: (at, head) => {
      const endpoint = endpoints[at];
      if (endpoint !== undefined) endpoint.head = head;
    },
    statuses: () => {
      const [lead] = ordered();
      return endpoints.map((endpoint) => ({
        host: endpoint.host,
        state: stateOf(endpoint),
        isLead: endpoint === lead,
        headNumber: endpoint.head,
        latencyMs: endpoint.health.latencyMs,
      }));
    },
  };
}
