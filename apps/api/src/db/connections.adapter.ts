import type { EventEmitter } from "node:events";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { RedisLogin, RedisEndpoint } from "./redis-endpoint.port.ts";

/** A connection that follows the current primary, or the nodes of a cluster. */
export type RedisClient = Redis | Cluster;

// Each function starts to connect immediately: a BullMQ queue whose own connect() is refused stays broken
// until the process ends, but a queue waits for a connection in progress.

/**
 * Producers fail at once while Redis is unavailable: the outbox keeps the job and the relay retries.
 * @param onFault receives the reason for a missing connection
 */
export function producerConnection(endpoint: RedisEndpoint, onFault?: (error: unknown) => void): RedisClient {
  return connectTo(
    endpoint,
    { enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: SOCKET_TIMEOUT_MS },
    onFault,
  );
}

/** Workers wait for Redis as long as it takes. */
export function workerConnection(endpoint: RedisEndpoint): RedisClient {
  return connectTo(endpoint, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    // BullMQ waits up to 10 s for a job, on a copy of this connection.
    socketTimeout: 12_000,
  });
}

const READY_WITHIN_MS = 1_000;

/**
 * For commands that must answer within a time: they fail at once while Redis is unavailable. Waits a moment
 * for the connection; if Redis does not respond by then, the first command fails.
 */
export async function promptConnection(
  endpoint: RedisEndpoint,
  answerWithinMs: number,
): Promise<RedisClient> {
  const redis = connectTo(endpoint, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: answerWithinMs,
    socketTimeout: SOCKET_TIMEOUT_MS,
  });
  await readyWithin(redis, READY_WITHIN_MS);
  return redis;
}

/**
 * A connection that gets no answer for this long is reopened: behind a network that swallows packets, TCP
 * would wait for a quarter of an hour, and another server may have taken over.
 */
const SOCKET_TIMEOUT_MS = 5_000;
/** A node that does not answer must not delay the next one. */
const CONNECT_WITHIN_MS = 2_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;

type Options = Omit<RedisOptions, "replyMapping">;
type CommandOptions = Pick<RedisOptions, "maxRetriesPerRequest" | "commandTimeout" | "socketTimeout"> & {
  readonly enableOfflineQueue: boolean;
};

function connectTo(
  endpoint: RedisEndpoint,
  { enableOfflineQueue, ...commandOptions }: CommandOptions,
  onFault: (error: unknown) => void = () => {},
): RedisClient {
  const redis = open(endpoint, enableOfflineQueue, {
    ...commandOptions,
    ...loginOf(endpoint.login),
    reconnectOnError,
  });
  const emitter: EventEmitter = redis;
  // Without a listener, a lost connection would end the process. Each call rejects with the error anyway.
  emitter.on("error", onFault);
  return redis;
}

function open(endpoint: RedisEndpoint, enableOfflineQueue: boolean, options: Options): RedisClient {
  if (endpoint.kind === "url") return new Redis(endpoint.url.reveal(), { ...options, enableOfflineQueue });
  const secured = { ...options, connectTimeout: CONNECT_WITHIN_MS, ...(endpoint.isTls && { tls: {} }) };
  if (endpoint.kind === "sentinel") {
    const { username, password } = loginOf(endpoint.sentinelLogin);
    return new Redis({
      ...secured,
      enableOfflineQueue,
      sentinels: [...endpoint.sentinels],
      name: endpoint.name,
      ...(username !== undefined && { sentinelUsername: username }),
      ...(password !== undefined && { sentinelPassword: password }),
      ...(endpoint.isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
      sentinelCommandTimeout: CONNECT_WITHIN_MS,
      sentinelRetryStrategy: retryAfterMs,
      retryStrategy: retryAfterMs,
    });
  }
  return new Cluster([...endpoint.nodes], {
    enableOfflineQueue,
    clusterRetryStrategy: retryAfterMs,
    redisOptions: secured,
    // With TLS, the name in the certificate must reach the handshake.
    ...(endpoint.isTls && { dnsLookup: (address, done) => done(null, address) }),
  });
}

function loginOf({ username, password }: RedisLogin): Pick<RedisOptions, "username" | "password"> {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
  };
}

function retryAfterMs(times: number): number {
  return Math.min(times * 100, MAX_RECONNECT_PAUSE_MS);
}

/**
 * A server that became a replica, or was cut off from its replicas, refuses writes: reconnecting finds the
 * current primary.
 */
function reconnectOnError({ message }: Error): boolean {
  return /^(READONLY|NOREPLICAS) /.test(message);
}

/** Why a connection failed, with the reason of the node that a cluster asked last. */
export function redisReason(error: unknown): string {
  const { message, lastNodeError } = error as { message?: string; lastNodeError?: Error | null };
  return [message, lastNodeError?.message].filter((text) => text !== undefined && text !== "").join(" ");
}

/** Whether the connection is ready within `ms`. */
export async function readyWithin(redis: RedisClient, ms: number): Promise<boolean> {
  if (redis.status === "ready") return true;
  const emitter: EventEmitter = redis;
  const ready = Promise.withResolvers<boolean>();
  const onReady = (): void => ready.resolve(true);
  const timer = setTimeout(() => ready.resolve(false), ms);
  timer.unref();
  emitter.once("ready", onReady);
  const isReady = await ready.promise;
  clearTimeout(timer);
  emitter.off("ready", onReady);
  return isReady;
}
