import type { TrustedProxies } from "@causeway/service-kit";
import type { RequestId } from "@causeway/domain";
import type { StatusView } from "../requests/status-view.port.ts";
import type { StopListening } from "../requests/status-feed.port.ts";

/** A client's view of a request after one of its changes. */
export interface StatusUpdate {
  readonly view: StatusView;
  /** Number of changes of the request so far. */
  readonly sequence: number;
  /** The only change is that the status is final. */
  readonly onlyFinal: boolean;
}

/** Receives updates of requests. Must not throw. */
export interface StatusFollower {
  updated(update: StatusUpdate): void;
  /** No more updates will follow, even if the request changes. */
  lost(): void;
}

/** Limits of long-lived connections. */
export interface PushPolicy {
  /** Per IPv4 address or IPv6 /64. */
  readonly maxPerAddress: number;
  /** Per process. */
  readonly maxConnections: number;
  readonly maxSubscriptions: number;
  /** How often heartbeats are sent, and expected from sockets. */
  readonly heartbeatMs: number;
  /** Trusted proxies, as configured for the HTTP server. */
  readonly trustProxy: TrustedProxies;
}

/** Long-lived connections, counted by address. */
export interface ConnectionLimits {
  /**
   * Counts a connection, and returns a function to call when it is closed; later calls have no effect.
   * Undefined: the limit is reached.
   */
  take(address: string): (() => void) | undefined;
}

/** The dependencies of sockets and streams. */
export interface StatusPush {
  /** Sends the current status, then every change. Undefined for an unknown request. */
  follow(requestId: RequestId, follower: StatusFollower, after?: number): Promise<StopListening | undefined>;
  /** Sends every later change of all requests of an API key. */
  followKey(keyId: string, follower: StatusFollower): StopListening;
  readonly connections: ConnectionLimits;
  readonly policy: PushPolicy;
  /** Updated by the routes. */
  readonly sockets: SocketFigures;
}

/** Figures of sockets and streams for the metrics. */
export interface SocketFigures {
  sockets: number;
  streams: number;
  subscriptions: number;
  /** Messages sent to clients. */
  messages: number;
  /** Connections that the service closed, except at the end of the process. */
  closed: number;
}
