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
  { redis: place, queuePrefix }: Pick<Subjects, "redis" | "queuePrefix">,
  clocks: NamedReading[],
): Promise<readonly Finding[]> {
  if (place === undefined) return [findingsOf("redis", "REDIS_URL").skipped("not configured")];
  const judgeServer = async (host: string, target: Parameters<typeof readRedis>[0]) => {
    const gathered = await gatherFacts(() => readRedis(target));
    noteClock(clocks, "Redis", gathered);
    return judgeRedis({ host, gathered: factsOnly(gathered) }, place.kind);
  };
  if (place.kind === "url") return await judgeServer(hostOf(place.url.reveal()), urlTarget(place));

  if (place.kind === "sentinel") {
    const sentinels = await queryAll(place.sentinels, (node) => readSentinel(node, place));
    const findings = judgeSentinels(place.name, sentinels);
    const primary = firstOf(sentinels, ({ primary: node }) => node);
    if (primary === undefined)
      return [...findings, findingsOf("redis.reachable", place.name).skipped(UNKNOWN)];
    return [...findings, ...(await judgeServer(hostAndPort(primary), { ...place, server: primary }))];
  }
  const nodes = await queryAll(place.nodes, (node) =>
    readClusterNode(node, place, keyPrefix(place, queuePrefix)),
  );
  const findings = judgeClusterNodes(nodes);
  const owner = firstOf(nodes, (facts) => facts.owner);
  if (owner === undefined) return [...findings, findingsOf("redis.reachable", "cluster").skipped(UNKNOWN)];
  return [...findings, ...(await judgeServer(hostAndPort(owner), { ...place, server: owner }))];
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
