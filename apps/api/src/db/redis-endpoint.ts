import { Secret } from "@causeway/config";
import type { RedisEndpoint } from "./redis-endpoint.port.ts";

/** The server at a URL. */
export function redisAt(url: string): RedisEndpoint {
  return { kind: "url", url: new Secret(url), login: { username: undefined, password: undefined } };
}

/**
 * Prefix of all keys. The scripts of the queues and of the journal use several keys at once; in a cluster, a
 * hash tag keeps them in one slot. Without a cluster there is no hash tag: changing the prefix of existing
 * keys would lose the queued jobs and the journal.
 */
export function keyPrefix({ kind }: Pick<RedisEndpoint, "kind">, prefix: string): string {
  return kind === "cluster" ? `{${prefix}}` : prefix;
}
