import { Secret } from "@causeway/config";
import type { RedisPlace } from "./redis-place.port.ts";

/** The server at a URL. */
export function redisAt(url: string): RedisPlace {
  return { kind: "url", url: new Secret(url), login: { username: undefined, password: undefined } };
}

/**
 * Prefix of all keys. The scripts of the queues and of the journal use several keys at once; in a cluster, a
 * hash tag keeps them in one slot. Other places keep their keys as they are: a prefix that changes loses the
 * queued jobs and the journal.
 */
export function keyPrefix({ kind }: Pick<RedisPlace, "kind">, prefix: string): string {
  return kind === "cluster" ? `{${prefix}}` : prefix;
}
