import { tickBatcher } from "./tick-batcher.ts";
import { togetherOrAlone } from "./together-or-alone.ts";

/**
 * Reads that share statements. Of hundreds, a statement would take long; with more in flight, each would have
 * few.
 */
export const READS_TOGETHER = { inFlight: 2, maxBatch: 100 } as const;

/**
 * Reads rows by their keys: those that are asked for in one event-loop turn, or while others are read, share
 * a statement. Each read starts after it was asked for. A key or row that cannot be read fails its own read.
 */
export function readByKey<Key, Row>(
  read: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): (key: Key) => Promise<Row | undefined> {
  const ask = tickBatcher(async (keys: readonly Key[]) => {
    const rows = new Map<Key, Row>();
    const errors = await togetherOrAlone([...new Set(keys)], async (some) => {
      for (const row of await read(some)) rows.set(keyOf(row), row);
    });
    return keys.map((key) => ({ error: errors.get(key), row: rows.get(key) }));
  }, READS_TOGETHER);
  return async (key) => {
    const { error, row } = await ask(key);
    if (error !== undefined) throw error;
    return row;
  };
}

/** {@link readByKey} of a single answer. */
export function readTogether<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  const ask = tickBatcher(async (asked: readonly undefined[]) => {
    const answer = await read();
    return asked.map(() => answer);
  }, READS_TOGETHER);
  return async () => await ask(undefined);
}
