import { Redis } from "ioredis";
import type {
  ClusterEndpoint,
  RedisNode,
  RedisEndpoint,
  SentinelEndpoint,
} from "../../db/redis-endpoint.port.ts";
import type { ClockReading } from "./clock-check.ts";
import { redisFactsOf, type ClusterNodeFacts, type RedisFacts, type SentinelFacts } from "./redis-check.ts";

const TIMEOUT_MS = 5_000;

interface ServerFacts {
  readonly facts: RedisFacts;
  readonly clock: ClockReading;
}

/** A server, and how to sign in to it. */
type Target = Pick<SentinelEndpoint, "login" | "isTls"> & { readonly server: RedisNode | string };

/** Reads `INFO` and the time of a server. @throws when it does not answer or refuses the password */
export async function readRedis(target: Target): Promise<ServerFacts> {
  return await onServer(target, serverFacts);
}

/** The server at a URL as a target. */
export function urlTarget({ url, login }: Extract<RedisEndpoint, { readonly kind: "url" }>): Target {
  return { server: url.reveal(), login, isTls: false };
}

/** Asks a sentinel for the primary. @throws as readRedis */
export async function readSentinel(
  node: RedisNode,
  { name, sentinelLogin, isTls }: SentinelEndpoint,
): Promise<SentinelFacts> {
  return await onServer({ server: node, login: sentinelLogin, isTls }, async (redis) => {
    const primary = nodeOf(await redis.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name));
    if (primary === undefined) return { primary, quorumFault: undefined };
    const quorumFault = await redis.call("SENTINEL", "CKQUORUM", name).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { primary, quorumFault };
  });
}

/**
 * Asks a node of a cluster about itself and for the node that has `key`. @throws as readRedis
 */
export async function readClusterNode(
  node: RedisNode,
  { login, isTls }: ClusterEndpoint,
  key: string,
): Promise<ClusterNodeFacts> {
  return await onServer({ server: node, login, isTls }, async (redis) => {
    const { isCluster } = redisFactsOf(await redis.info());
    if (!isCluster) return { isCluster, state: "", owner: undefined };
    const slot = Number(await redis.call("CLUSTER", "KEYSLOT", key));
    const ranges = (await redis.call("CLUSTER", "SLOTS")) as readonly (readonly unknown[])[];
    const range = ranges.find(([from, to]) => Number(from) <= slot && slot <= Number(to));
    const state = /^cluster_state:(\w+)/m.exec(String(await redis.call("CLUSTER", "INFO")))?.[1];
    const owner = nodeOf(range?.[2]);
    // A node that does not know its own address leaves it empty.
    return {
      isCluster,
      state: state ?? "",
      owner: owner?.host === "" ? { ...owner, host: node.host } : owner,
    };
  });
}

function nodeOf(answer: unknown): RedisNode | undefined {
  if (!Array.isArray(answer)) return undefined;
  return { host: String(answer[0] ?? ""), port: Number(answer[1]) };
}

async function serverFacts(redis: Redis): Promise<ServerFacts> {
  const facts = redisFactsOf(await redis.info());
  const startedAtMs = Date.now();
  const [seconds, microseconds] = await redis.time();
  return {
    facts,
    clock: {
      theirsMs: Number(seconds) * 1000 + Number(microseconds) / 1000,
      oursMs: (startedAtMs + Date.now()) / 2,
    },
  };
}

async function onServer<T>(
  { server: address, login: { username, password }, isTls }: Target,
  read: (redis: Redis) => Promise<T>,
): Promise<T> {
  const options = {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    disconnectTimeout: 100,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    // The ready check expects the `INFO` of a server, which a sentinel does not have.
    enableReadyCheck: false,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(isTls && { tls: {} }),
  };
  const redis =
    typeof address === "string" ? new Redis(address, options) : new Redis({ ...options, ...address });
  // Prefer the error of the connection: it says more than the errors of the calls.
  let fault: Error | undefined;
  redis.on("error", (error: Error) => (fault ??= error));
  try {
    await redis.connect();
    return await read(redis);
  } catch (error) {
    throw fault ?? error;
  } finally {
    redis.disconnect();
  }
}
