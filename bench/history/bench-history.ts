import type { BenchOptions } from "../options.ts";
import { onOwnDatabase } from "../own-database.ts";
import type { HistoryFigures } from "./judge-history.ts";
import { measureHistory } from "./measure-history.ts";
import { storeHistory } from "./store-history.ts";

const RUNS = 200;
const QUICK_RUNS = 20;

/**
 * Stores paid requests in a separate database and queries them by each filter alone. Storing a million
 * takes minutes.
 */
export async function benchHistory(
  { rows, isQuick }: Pick<BenchOptions, "rows" | "isQuick">,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<HistoryFigures> {
  const database = { name: "history", statementTimeoutMs: 30_000 };
  return await onOwnDatabase(env, database, async ({ url, pool }) => {
    await storeHistory(url, rows, { signal });
    return {
      stored: rows,
      filters: await measureHistory(pool, { runs: isQuick ? QUICK_RUNS : RUNS, withTotal: false, signal }),
    };
  });
}
