import { keyPrefix } from "../../db/redis-endpoint.ts";
import type { RedisNode } from "../../db/redis-endpoint.port.ts";
import type { NamedReading } from "./clock-check.ts";
import { findingsOf, hostOf, type Finding } from "./finding.ts";
import { factsOnly, gatherFacts, noteClock } from "./gather.ts";
import {
  hostAndPort,
  judgeClusterNodes,
  judgeRedis,
  judgeSentinels,
  type QueriedServer,
} from "./redis-check.ts";
import { readClusterNode, readRedis, readSentinel, urlTarget } from "./redis-facts.adapter.ts";
import type { Subjects } from "./subjects.ts";

/** Checks the sentinels or the nodes of the cluster, then the server that has the keys. */
export async function examineRedis(
  { redis: endpoint, queuePrefix }: Pick<Subjects, "redis" | "queuePrefix">,
  clocks: NamedReading[],
): Promise<readonly Finding[]> {
  if (endpoint === undefined) return [findingsOf("redis", "REDIS_URL").skipped("not configured")];
  const judgeServer = async (host: string, target: Parameters<typeof readRedis>[0]) => {
    const gathered = await gatherFacts(() => readRedis(target));
    noteClock(clocks, "Redis", gathered);
    return judgeRedis({ host, gathered: factsOnly(gathered) }, endpoint.kind);
  };
  if (endpoint.kind === "url") return await judgeServer(hostOf(endpoint.url.reveal()), urlTarget(endpoint));

  if (endpoint.kind === "sentinel") {
    const sentinels = await queryAll(endpoint.sentinels, (node) => readSentinel(node, endpoint));
    const findings = judgeSentinels(endpoint.name, sentinels);
    const primary = firstOf(sentinels, ({ primary: node }) => node);
    if (primary === undefined)
      return [...findings, findingsOf("redis.reachable", endpoint.name).skipped(UNKNOWN)];
    return [...findings, ...(await judgeServer(hostAndPort(primary), { ...endpoint, server: primary }))];
  }
  const nodes = await queryAll(endpoint.nodes, (node) =>
    readClusterNode(node, endpoint, keyPrefix(endpoint, queuePrefix)),
  );
  const findings = judgeClusterNodes(nodes);
  const owner = firstOf(nodes, (facts) => facts.owner);
  if (owner === undefined) return [...findings, findingsOf("redis.reachable", "cluster").skipped(UNKNOWN)];
  return [...findings, ...(await judgeServer(hostAndPort(owner), { ...endpoint, server: owner }))];
}

const UNKNOWN = "unknown which server has the keys";

async function queryAll<T>(
  nodes: readonly RedisNode[],
  read: (node: RedisNode) => Promise<T>,
): Promise<readonly QueriedServer<T>[]> {
  return await Promise.all(
    nodes.map(async (node) => ({
      host: hostAndPort(node),
      gathered: await gatherFacts(() => read(node)),
    })),
  );
}

function firstOf<T>(
  servers: readonly QueriedServer<T>[],
  nodeIn: (facts: T) => RedisNode | undefined,
): RedisNode | undefined {
  return servers.flatMap(({ gathered }) =>
    gathered.kind === "facts" ? (nodeIn(gathered.facts) ?? []) : [],
  )[0];
}
