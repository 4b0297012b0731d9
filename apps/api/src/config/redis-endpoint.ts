import { ConfigError, setting } from "@causeway/config";
import type { Env, SettingValues } from "@causeway/config";
import type { RedisNode, RedisEndpoint } from "../db/redis-endpoint.port.ts";

const { flag, list, secret, secretUrl, text } = setting;

const URL_FORM = "URL (redis://, rediss://)";

/** Where Redis is. Exactly one of three settings names it. */
export const redisSettings = {
  redisUrl: secretUrl({
    name: "REDIS_URL",
    schemes: ["redis", "rediss"],
    optional: true,
    describe:
      "Redis for the job queues, the rate limits and the journal of payments; required without `REDIS_SENTINELS` and `REDIS_CLUSTER`. It must run with `maxmemory-policy noeviction`. Losing its data alone is harmless; losing it together with the last commits of Postgres may hide payments (docs/operations/backups.md).",
  }),
  redisSentinels: list({
    name: "REDIS_SENTINELS",
    optional: true,
    describe:
      "Redis Sentinels as `host:port`, instead of `REDIS_URL`. They name the current primary (docs/operations/redis.md).",
  }),
  redisSentinelName: text({
    name: "REDIS_SENTINEL_NAME",
    optional: true,
    describe: "Name by which the sentinels know the primary, such as `mymaster`.",
  }),
  redisCluster: list({
    name: "REDIS_CLUSTER",
    optional: true,
    describe:
      "Nodes of a Redis Cluster as `host:port`, instead of `REDIS_URL`. The other nodes are discovered through them (docs/operations/redis.md).",
  }),
  redisUsername: secret({
    name: "REDIS_USERNAME",
    optional: true,
    describe: "User name for Redis, unless `REDIS_URL` has one. Unset: the default user.",
  }),
  redisPassword: secret({
    name: "REDIS_PASSWORD",
    optional: true,
    describe: "Password for Redis, unless `REDIS_URL` has one.",
  }),
  redisSentinelUsername: secret({
    name: "REDIS_SENTINEL_USERNAME",
    optional: true,
    describe: "User name for the sentinels.",
  }),
  redisSentinelPassword: secret({
    name: "REDIS_SENTINEL_PASSWORD",
    optional: true,
    describe: "Password for the sentinels. Unset: connects without authentication.",
  }),
  redisTls: flag({
    name: "REDIS_TLS",
    default: false,
    describe:
      "Whether sentinels, the primary and cluster nodes are reached over TLS. For `REDIS_URL`, use `rediss://`.",
  }),
};

type RedisSettings = Partial<SettingValues<typeof redisSettings>>;

/**
 * The Redis that the settings name.
 * @param env distinguishes a missing setting from an invalid one, which is already reported
 * @throws ConfigError with all problems; none contains a secret
 */
export function readRedisEndpoint(settings: RedisSettings, env: Env): RedisEndpoint {
  const isSet = (name: string): boolean =>
    [name, `${name}_FILE`].some((variable) => (env[variable] ?? "").trim() !== "");
  const configured = ["REDIS_URL", "REDIS_SENTINELS", "REDIS_CLUSTER"].filter(isSet);
  const problems: string[] = [];
  if (configured.length === 0)
    problems.push(`REDIS_URL is required: ${URL_FORM}, secret; or set REDIS_SENTINELS or REDIS_CLUSTER`);
  if (configured.length > 1)
    problems.push(
      `set only one of REDIS_URL, REDIS_SENTINELS and REDIS_CLUSTER, got ${configured.join(" and ")}`,
    );
  if (configured.includes("REDIS_SENTINELS") !== isSet("REDIS_SENTINEL_NAME"))
    problems.push("REDIS_SENTINELS and REDIS_SENTINEL_NAME must be set together");
  if (settings.redisTls === true && configured.includes("REDIS_URL"))
    problems.push("REDIS_TLS has no effect on REDIS_URL; use rediss:// there, and unset REDIS_TLS");
  const sentinels = nodesOf("REDIS_SENTINELS", settings.redisSentinels, problems);
  const nodes = nodesOf("REDIS_CLUSTER", settings.redisCluster, problems);
  if (problems.length > 0) throw new ConfigError(problems);

  const login = { username: settings.redisUsername?.reveal(), password: settings.redisPassword };
  const isTls = settings.redisTls === true;
  if (nodes !== undefined) return { kind: "cluster", nodes, login, isTls };
  if (sentinels !== undefined && settings.redisSentinelName !== undefined)
    return {
      kind: "sentinel",
      sentinels,
      name: settings.redisSentinelName,
      login,
      sentinelLogin: {
        username: settings.redisSentinelUsername?.reveal(),
        password: settings.redisSentinelPassword,
      },
      isTls,
    };
  if (settings.redisUrl !== undefined) return { kind: "url", url: settings.redisUrl, login };
  // Set but invalid, which is reported elsewhere.
  throw new ConfigError([]);
}

function nodesOf(
  name: string,
  entries: readonly string[] | undefined,
  problems: string[],
): readonly RedisNode[] | undefined {
  return entries?.flatMap((entry, index) => {
    const [, host, port] = /^(\[[\da-f:]+\]|[\w.-]+):(\d{1,5})$/i.exec(entry) ?? [];
    if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535)
      return [{ host: host.replaceAll(/[[\]]/g, ""), port: Number(port) }];
    problems.push(`${name} entry ${index + 1} must be host:port, such as redis-1:6379`);
    return [];
  });
}
