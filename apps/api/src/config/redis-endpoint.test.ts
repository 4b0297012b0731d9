import { ConfigError, readSettings } from "@causeway/config";
import { expect, test } from "vitest";
import { keyPrefix } from "../db/redis-endpoint.ts";
import { readRedisEndpoint, redisSettings } from "./redis-endpoint.ts";

const endpointOf = (env: Record<string, string>) => readRedisEndpoint(readSettings(redisSettings, env), env);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    endpointOf(env);
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

test("reads a server by its URL, sentinels and a cluster", () => {
  expect(endpointOf({ REDIS_URL: "rediss://redis:6379/2", REDIS_PASSWORD: "hunter2" })).toMatchObject({
    kind: "url",
    login: { username: undefined },
  });
  const sentinels = endpointOf({
    REDIS_SENTINELS: "sentinel-1:26379, [fd00::1]:26380",
    REDIS_SENTINEL_NAME: "mymaster",
    REDIS_USERNAME: "causeway",
    REDIS_PASSWORD: "hunter2",
    REDIS_SENTINEL_PASSWORD: "hunter3",
    REDIS_TLS: "true",
  });
  expect(sentinels).toMatchObject({
    kind: "sentinel",
    name: "mymaster",
    isTls: true,
    sentinels: [
      { host: "sentinel-1", port: 26379 },
      { host: "fd00::1", port: 26380 },
    ],
    login: { username: "causeway" },
  });
  expect(sentinels.kind === "sentinel" && sentinels.sentinelLogin.password?.reveal()).toBe("hunter3");
  expect(endpointOf({ REDIS_CLUSTER: "a:1" })).toMatchObject({
    kind: "cluster",
    nodes: [{ host: "a", port: 1 }],
  });
});

test.each([
  [{}, "REDIS_URL is required: URL (redis://, rediss://), secret; or set REDIS_SENTINELS or REDIS_CLUSTER"],
  [
    { REDIS_URL: "redis://a", REDIS_CLUSTER: "a:1" },
    "set only one of REDIS_URL, REDIS_SENTINELS and REDIS_CLUSTER, got REDIS_URL and REDIS_CLUSTER",
  ],
  [{ REDIS_SENTINELS: "a:1" }, "REDIS_SENTINELS and REDIS_SENTINEL_NAME must be set together"],
  [
    { REDIS_URL: "redis://a", REDIS_SENTINEL_NAME: "m" },
    "REDIS_SENTINELS and REDIS_SENTINEL_NAME must be set together",
  ],
  [
    { REDIS_URL: "redis://a", REDIS_TLS: "true" },
    "REDIS_TLS has no effect on REDIS_URL; use rediss:// there, and unset REDIS_TLS",
  ],
  [{ REDIS_CLUSTER: "a:1,b" }, "REDIS_CLUSTER entry 2 must be host:port, such as redis-1:6379"],
  [{ REDIS_CLUSTER: "a:70000" }, "REDIS_CLUSTER entry 1 must be host:port, such as redis-1:6379"],
])("refuses %j", (env, problem) => {
  expect(problemsOf(env as unknown as Record<string, string>)).toEqual([problem]);
});

test("keys have a hash tag only in a cluster, so that existing jobs and journals keep their names", () => {
  expect(keyPrefix({ kind: "cluster" }, "causeway")).toBe("{causeway}");
  for (const kind of ["url", "sentinel"] as const) expect(keyPrefix({ kind }, "causeway")).toBe("causeway");
});
