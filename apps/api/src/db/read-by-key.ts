import { tickBatcher } from "./tick-batcher.ts";
import { isUnanswered } from "./database-unreachable.ts";
import { asError } from "./together-or-alone.ts";

/**
 * Limits of reads that share statements: larger batches make slow statements, and more statements in flight
 * make small batches.
 */
export const READS_TOGETHER = { inFlight: 2, maxBatch: 100 } as const;

/**
 * Reads rows by their keys. Keys requested in one event-loop turn, or while others are read, share a
 * statement. Each read starts after it was requested. A key or row that cannot be read fails its own read; a
 * database that does not answer fails all of them together.
 */
export function readByKey<Key, Row>(
  read: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): (key: Key) => Promise<Row | undefined> {
  const ask = tickBatcher(async (keys: readonly Key[]) => {
    const rows = new Map<Key, Row>();
    const errors = new Map<Key, Error>();
    const readAll = async (batch: readonly Key[]): Promise<void> => {
      for (const row of await read(batch)) rows.set(keyOf(row), row);
    };
    const distinct = [...new Set(keys)];
    try {
      await readAll(distinct);
    } catch (error) {
      if (distinct.length === 1 || isUnanswered(error)) throw error;
      for (const key of distinct)
        await readAll([key]).catch((keyError: unknown) => {
          if (isUnanswered(keyError)) throw keyError;
          errors.set(key, asError(keyError));
        });
    }
    return keys.map((key) => ({ error: errors.get(key), row: rows.get(key) }));
  }, READS_TOGETHER);
  return async (key) => {
    const { error, row } = await ask(key);
    if (error !== undefined) throw error;
    return row;
  };
}

/** {@link readByKey} for a read without a key: concurrent calls share one statement. */
export function readTogether<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  const ask = tickBatcher(async (calls: readonly undefined[]) => {
    const answer = await read();
    return calls.map(() => answer);
  }, READS_TOGETHER);
  return async () => await ask(undefined);
}
