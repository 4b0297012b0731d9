import { expect, test } from "vitest";
import {
  judgeClusterNodes,
  judgeRedis,
  judgeSentinels,
  type QueriedServer,
  type SentinelFacts,
} from "./redis-check.ts";

const node = { host: "redis-1", port: 6379 };
const down = { kind: "unreachable", reason: "ECONNREFUSED" } as const;
const sentinel = (host: string, changed: Partial<SentinelFacts> = {}): QueriedServer<SentinelFacts> => ({
  host,
  gathered: { kind: "facts", facts: { primary: node, quorumFault: undefined, ...changed } },
});
const judgeCluster = (isCluster: boolean, state: string, owner = { ...node, host: "fd00::1" }) =>
  judgeClusterNodes([{ host: "a", gathered: { kind: "facts", facts: { isCluster, state, owner } } }]);
const server = {
  version: "8.0.2",
  evictionPolicy: "noeviction",
  usedBytes: 1,
  maxBytes: 0,
  role: "master",
  isCluster: true,
  replicas: 1,
};
const judgeOwner = (changed: Partial<typeof server>, kind: "sentinel" | "cluster" = "cluster") =>
  judgeRedis({ host: "a", gathered: { kind: "facts", facts: { ...server, ...changed } } }, kind);

test.each([
  ["sentinels that agree", judgeSentinels("mymaster", [sentinel("a"), sentinel("b")])],
  ["a cluster that serves all keys", judgeCluster(true, "ok")],
  ["the server that has the keys", judgeOwner({})],
])("finds nothing wrong with %s", (_name, findings) => {
  expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
});

test.each([
  [
    "a sentinel is down",
    judgeSentinels("mymaster", [sentinel("a"), { host: "b", gathered: down }]),
    "redis.sentinel b problem",
    "ECONNREFUSED",
  ],
  [
    "a sentinel does not know the name",
    judgeSentinels("mymaster", [sentinel("a", { primary: undefined })]),
    "redis.sentinel a problem",
    "no primary named mymaster",
  ],
  [
    "too few sentinels for a failover",
    judgeSentinels("mymaster", [sentinel("a", { quorumFault: "NOQUORUM 1 usable Sentinels" })]),
    "redis.sentinel a problem",
    "NOQUORUM",
  ],
  [
    "sentinels name different primaries",
    judgeSentinels("mymaster", [sentinel("a"), sentinel("b", { primary: { host: "redis-2", port: 6379 } })]),
    "redis.sentinels mymaster problem",
    "redis-1:6379, redis-2:6379",
  ],
  [
    "a node of the cluster is down",
    judgeClusterNodes([{ host: "a", gathered: down }]),
    "redis.node a problem",
    "ECONNREFUSED",
  ],
  ["a node is not in cluster mode", judgeCluster(false, ""), "redis.node a problem", "cluster mode is off"],
  ["slots are not served", judgeCluster(true, "fail"), "redis.node a problem", "is fail"],
  ["the primary has no replica", judgeOwner({ replicas: 0 }), "redis.replicas a warning", "no replica"],
  ["a sentinel names a cluster node", judgeOwner({}, "sentinel"), "redis.cluster a problem", "cluster mode"],
] as const)("reports that %s", (_name, findings, expected, found) => {
  const [fault, ...others] = findings.filter(({ state }) => state !== "ok");
  expect(`${fault?.check} ${fault?.subject} ${fault?.state}`).toBe(expected);
  expect(fault?.found).toContain(found);
  expect(fault?.why).toBeTruthy();
  expect(fault?.remedy).toBeTruthy();
  expect(others).toEqual([]);
});
