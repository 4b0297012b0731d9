import { tickBatcher } from "./tick-batcher.ts";

/**
 * Reads that share statements. Of hundreds, a statement would take long; with more in flight, each would have
 * few.
 */
export const READS_TOGETHER = { inFlight: 2, maxBatch: 100 } as const;

/**
 * Reads rows by their keys: those that are asked for in one event-loop turn, or while others are read, share
 * a statement. Each read starts after it was asked for.
 */
export function readByKey<Key, Row>(
  read: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): (key: Key) => Promise<Row | undefined> {
  return tickBatcher(async (keys: readonly Key[]) => {
    const rows = new Map((await read([...new Set(keys)])).map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key));
  }, READS_TOGETHER);
}

/** {@link readByKey} of a single answer. */
export function readTogether<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  const ask = tickBatcher(async (asked: readonly undefined[]) => {
    const answer = await read();
    return asked.map(() => answer);
  }, READS_TOGETHER);
  return async () => await ask(undefined);
}
