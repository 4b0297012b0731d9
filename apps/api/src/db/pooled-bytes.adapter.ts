import { randomFillSync } from "node:crypto";
import type { Random } from "./random.port.ts";

const WORD = 32;
const WORDS = 256;

/**
 * Random words from the system's generator, fetched in bulk: one call per word costs twenty times as much. No
 * word is returned twice.
 */
export function pooledRandomBytes(): Random {
  const pool = Buffer.alloc(WORD * WORDS);
  let next = pool.length;
  return {
    bytes32() {
      if (next === pool.length) {
        randomFillSync(pool);
        next = 0;
      }
      next += WORD;
      return `0x${pool.toString("hex", next - WORD, next)}`;
    },
  };
}
