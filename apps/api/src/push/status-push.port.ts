import type { TrustedProxies } from "@causeway/service-kit";
import type { RequestId } from "@causeway/domain";
import type { StatusView } from "../requests/status-view.port.ts";
import type { StopListening } from "../requests/status-feed.port.ts";

/** What a client sees of a request after one of its changes. */
export interface StatusUpdate {
  readonly view: StatusView;
  /** Counts the changes of the request. */
  readonly sequence: number;
  /** Nothing changed but that it will not change any more. */
  readonly onlyFinal: boolean;
}

/** Who follows requests. Must not throw. */
export interface StatusFollower {
  updated(update: StatusUpdate): void;
  /** No more will be told, although there may be more. */
  lost(): void;
}

/** Bounds on connections that stay open. */
export interface PushPolicy {
  /** Of one address, of IPv6 of its /64. */
  readonly maxPerAddress: number;
  /** Of the process. */
  readonly maxConnections: number;
  readonly maxSubscriptions: number;
  /** How often a sign of life is sent, and asked of sockets. */
  readonly heartbeatMs: number;
  /** Proxies whose `X-Forwarded-For` is believed, as the HTTP server has it. */
  readonly trustProxy: TrustedProxies;
}

/** Connections that stay open, counted by whose they are. */
export interface ConnectionPlaces {
  /** Undefined: there are too many already. What is taken is given back by the call, once. */
  take(address: string): (() => void) | undefined;
}

/** What routes that push need. */
export interface StatusPush {
  /** Tells how the request stands, then every change; undefined when no request has this id. */
  follow(requestId: RequestId, follower: StatusFollower, after?: number): Promise<StopListening | undefined>;
  /** Changes from now on of all requests of an API key. */
  followKey(keyId: string, follower: StatusFollower): StopListening;
  readonly places: ConnectionPlaces;
  readonly policy: PushPolicy;
  /** Counted by who is told. */
  readonly sockets: SocketFigures;
}

/** What is going on at sockets and streams, kept by the routes and read by the metrics. */
export interface SocketFigures {
  sockets: number;
  streams: number;
  subscriptions: number;
  /** Messages sent to clients. */
  messages: number;
  /** Connections that the service ended, for whatever reason but the end of the process. */
  closed: number;
}
