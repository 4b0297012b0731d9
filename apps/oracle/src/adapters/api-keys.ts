import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiKeys } from "../ports/api-keys.ts";

/**
 * Stores keys by digest, so that the time of a look-up reveals nothing about a key and a key cannot collide
 * with a built-in property name.
 * @param keys label by key
 */
export function createApiKeys(keys: ReadonlyMap<string, string>): ApiKeys {
  const entries = [...keys].map(([key, label]) => ({ digest: digestOf(key), label }));
  return {
    labelOf(key) {
      const digest = digestOf(key);
      // Compares with every entry, so that the time does not reveal the position of a match.
      let label: string | undefined;
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) label = entry.label;
      return label;
    },
  };
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(key, "utf8").digest();
}
