import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** Facts from a Redis server's `INFO`. */
export interface RedisFacts {
  /** Such as `7.4.1`. */
  readonly version: string;
  readonly evictionPolicy: string;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
  readonly role: string;
  readonly isCluster: boolean;
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
  };
}

export function judgeRedis(host: string, gathered: Gathered<RedisFacts>): readonly Finding[] {
  const on = (check: string) => findingsOf(`redis.${check}`, host);
  if (gathered.kind === "unreachable")
    return [
      on("reachable").problem({
        found: `Redis does not answer (${gathered.reason})`,
        why: "the worker is not ready: no fill or refund is paid",
        remedy: "start Redis, or correct REDIS_URL and its password",
      }),
    ];
  const { version, evictionPolicy, usedBytes, maxBytes, role, isCluster } = gathered.facts;
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
          remedy: "set REDIS_URL to the primary",
        }),
    isCluster
      ? on("cluster").problem({
          found: "cluster mode is enabled",
          why: "the queues use keys of several slots in one script, which a cluster refuses",
          remedy: "set REDIS_URL to a Redis without cluster mode",
        })
      : on("cluster").ok("cluster mode is off"),
  ];
}
