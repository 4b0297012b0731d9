import type { RedisNode, RedisEndpoint } from "../../db/redis-endpoint.port.ts";
import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** Facts from a Redis server's `INFO`. */
export interface RedisFacts {
  /** Such as `7.4.1`. */
  readonly version: string;
  readonly evictionPolicy: string;
  readonly usedBytes: number;
  /** `maxmemory`; 0: no limit. */
  readonly maxBytes: number;
  readonly role: string;
  readonly isCluster: boolean;
  readonly replicas: number;
}

/** The facts that a sentinel reports. */
export interface SentinelFacts {
  /** Undefined: the sentinel knows no primary with that name. */
  readonly primary: RedisNode | undefined;
  /** Why the sentinels could not agree on a failover. Undefined: they could agree. */
  readonly quorumFault: string | undefined;
}

/** The facts that a node of a cluster reports. */
export interface ClusterNodeFacts {
  readonly isCluster: boolean;
  /** `ok` if the cluster serves all keys. */
  readonly state: string;
  /** The node that has the keys of this service. */
  readonly owner: RedisNode | undefined;
}

/** A server and its answer. */
export interface QueriedServer<T> {
  readonly host: string;
  readonly gathered: Gathered<T>;
}

const MIN_MAJOR_VERSION = 7;
const HIGH_MEMORY_PERCENT = 70;

/** Reads the answer of `INFO`. */
export function redisFactsOf(info: string): RedisFacts {
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  return {
    version: value("redis_version"),
    evictionPolicy: value("maxmemory_policy"),
    usedBytes: Number(value("used_memory")),
    maxBytes: Number(value("maxmemory")),
    role: value("role"),
    isCluster: value("cluster_enabled") === "1",
    replicas: Number(value("connected_slaves")),
  };
}

/** Judges the server that has the keys. */
export function judgeRedis(
  { host, gathered }: QueriedServer<RedisFacts>,
  kind: RedisEndpoint["kind"] = "url",
): readonly Finding[] {
  const on = (check: string) => findingsOf(`redis.${check}`, host);
  if (gathered.kind === "unreachable")
    return [
      on("reachable").problem({
        found: `Redis does not answer (${gathered.reason})`,
        why: "the worker is not ready: no fill or refund is paid",
        remedy: `start Redis, or correct ${kind === "url" ? "REDIS_URL and its password" : "REDIS_PASSWORD"}`,
      }),
    ];
  const { version, evictionPolicy, usedBytes, maxBytes, role, isCluster, replicas } = gathered.facts;
  return [
    on("reachable").ok("the server answers"),
    Number.parseInt(version, 10) < MIN_MAJOR_VERSION
      ? on("version").problem({
          found: `the server is Redis ${version}, expected ${MIN_MAJOR_VERSION} or newer`,
          why: "the job queues use commands that it may lack",
          remedy: "upgrade Redis",
        })
      : on("version").ok(`Redis ${version}`),
    evictionPolicy === "noeviction"
      ? on("eviction").ok("maxmemory-policy is noeviction")
      : on("eviction").problem({
          found: `maxmemory-policy is ${evictionPolicy || "unknown"}, expected noeviction`,
          why: "Redis may delete queued jobs and the journal of payments",
          remedy: "redis-cli config set maxmemory-policy noeviction, and the same in redis.conf",
        }),
    maxBytes > 0 && usedBytes * 100 >= maxBytes * HIGH_MEMORY_PERCENT
      ? on("memory").warning({
          found: `${Math.floor((usedBytes * 100) / maxBytes)} % of maxmemory is used`,
          why: "a full Redis refuses writes: no job is queued or completed",
          remedy: "raise maxmemory (redis-cli config set maxmemory <bytes>)",
        })
      : on("memory").ok(`${usedBytes} bytes used, limit ${maxBytes === 0 ? "none" : maxBytes}`),
    role === "master"
      ? on("primary").ok("the server accepts writes")
      : on("primary").problem({
          found: `the server is a replica (role ${role}), which accepts no writes`,
          why: "no job is queued",
          remedy:
            kind === "url"
              ? "set REDIS_URL to the primary, or REDIS_SENTINELS to its sentinels"
              : "wait until the failover has ended, then run doctor again",
        }),
    isCluster && kind !== "cluster"
      ? on("cluster").problem({
          found: "cluster mode is enabled",
          why: "the queues use several keys in one script, which a cluster refuses without a hash tag",
          remedy: "set REDIS_CLUSTER to its nodes as host:port, and unset REDIS_URL",
        })
      : on("cluster").ok(`cluster mode is ${isCluster ? "on" : "off"}`),
    kind === "url" ? on("replicas").ok(`${replicas} replicas`) : judgeReplicas(host, replicas),
  ];
}

function judgeReplicas(host: string, replicas: number): Finding {
  const on = findingsOf("redis.replicas", host);
  if (replicas > 0) return on.ok(`${replicas} replicas`);
  return on.warning({
    found: "the primary has no replica",
    why: "nothing can replace it, and its failure stops all payments",
    remedy: "start a replica of this server",
  });
}

/** Judges each sentinel, and whether all sentinels name the same primary. */
export function judgeSentinels(
  name: string,
  sentinels: readonly QueriedServer<SentinelFacts>[],
): readonly Finding[] {
  const findings = sentinels.map(({ host, gathered }) => {
    const on = findingsOf("redis.sentinel", host);
    if (gathered.kind === "unreachable")
      return on.problem({
        found: `the sentinel does not answer (${gathered.reason})`,
        why: "without sentinels no process finds the primary, and no failover happens",
        remedy: "start the sentinel, or correct REDIS_SENTINELS and REDIS_SENTINEL_PASSWORD",
      });
    const { primary, quorumFault } = gathered.facts;
    if (primary === undefined)
      return on.problem({
        found: `the sentinel knows no primary named ${name}`,
        why: "it cannot say where Redis is",
        remedy:
          "correct REDIS_SENTINEL_NAME, or let it monitor that primary (redis-cli -p 26379 sentinel masters)",
      });
    if (quorumFault !== undefined)
      return on.problem({
        found: `the sentinels cannot agree on a failover (${quorumFault})`,
        why: "when the primary fails, nothing replaces it and all payments stop",
        remedy: `start the missing sentinels (redis-cli -p 26379 sentinel ckquorum ${name})`,
      });
    return on.ok(`the primary is ${hostAndPort(primary)}`);
  });
  const primaries = [
    ...new Set(
      sentinels.flatMap(({ gathered }) =>
        gathered.kind === "facts" && gathered.facts.primary !== undefined
          ? [hostAndPort(gathered.facts.primary)]
          : [],
      ),
    ),
  ];
  if (primaries.length < 2) return findings;
  return [
    ...findings,
    findingsOf("redis.sentinels", name).problem({
      found: `the sentinels name different primaries: ${primaries.join(", ")}`,
      why: "processes write to different servers: jobs are lost, and the journal of payments is incomplete",
      remedy: "let all sentinels monitor one primary, and run doctor again after a failover has ended",
    }),
  ];
}

/** Judges the configured nodes of a cluster. */
export function judgeClusterNodes(nodes: readonly QueriedServer<ClusterNodeFacts>[]): readonly Finding[] {
  return nodes.map(({ host, gathered }) => {
    const on = findingsOf("redis.node", host);
    if (gathered.kind === "unreachable")
      return on.problem({
        found: `the node does not answer (${gathered.reason})`,
        why: "a process that starts finds the cluster only through the other nodes",
        remedy: "start the node, or correct REDIS_CLUSTER and REDIS_PASSWORD",
      });
    const { isCluster, state, owner } = gathered.facts;
    if (!isCluster)
      return on.problem({
        found: "cluster mode is off",
        why: "the service does not connect to it as a cluster",
        remedy: "set REDIS_URL instead of REDIS_CLUSTER, or enable cluster mode",
      });
    if (state !== "ok" || owner === undefined)
      return on.problem({
        found: `the state of the cluster is ${state || "unknown"}${owner === undefined ? ", and no node has the keys of the service" : ""}`,
        why: "no job is queued",
        remedy: "start the missing nodes (redis-cli --cluster check <host>:<port>)",
      });
    return on.ok(`the keys of the service are on ${hostAndPort(owner)}`);
  });
}

export function hostAndPort({ host, port }: RedisNode): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
