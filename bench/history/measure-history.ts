import { hexAddressFormat } from "../../test/fakes/hex-address-format.ts";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import type pg from "pg";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresRequestHistory } from "../../apps/api/src/requests/history/request-history.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { pastRequestJson } from "../../apps/api/src/requests/history/past-request-json.ts";
import { createSearchLimiter } from "../../apps/api/src/requests/history/search-limiter.ts";
import { listRequests, type HistoryServices } from "../../apps/api/src/requests/history/list-requests.ts";
import { filterCases, questionFor } from "./filters.ts";
import { storedFacts } from "./stored-facts.ts";

/** How long a query took, from sending it to the text of the answer, in ms. */
export interface FilterFigures {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Rows of the last answer. */
  readonly rows: number;
}

/** Empty: naming currencies is a map lookup, so it is not measured. */
const chains: HistoryServices["chains"] = createChainDirectory([]);

/** Sends every documented query alone, `runs` times each with different values, one after another. */
export async function measureHistory(
  pool: pg.Pool,
  {
    runs,
    withTotal,
    signal,
  }: { readonly runs: number; readonly withTotal: boolean; readonly signal?: AbortSignal },
): Promise<readonly FilterFigures[]> {
  const sql = sqlOn(pool);
  const services = {
    chains,
    history: postgresRequestHistory(sql),
    searchLimiter: createSearchLimiter(),
    reads: postgresReads(sql),
    enginePolicy: { unattributedRefundAfterMs: undefined },
  };
  const facts = await storedFacts(pool, runs);
  const figures: FilterFigures[] = [];
  for (const filterCase of filterCases) {
    const took: number[] = [];
    let rows = 0;
    for (let run = 0; run < runs; run += 1) {
      signal?.throwIfAborted();
      const question = questionFor(filterCase, facts, run);
      const startedMs = performance.now();
      // One more row is read than is shown.
      const page = await listRequests(
        services,
        { ...question, limit: question.limit - 1, wantsTotal: withTotal },
        { name: "bench", hasSecretKey: true },
      );
      JSON.stringify(
        page.requests.map((past) =>
          pastRequestJson(
            past,
            { showsAppData: false, showsAddressKey: false, showsAllCallData: false },
            hexAddressFormat,
          ),
        ),
      );
      took.push(performance.now() - startedMs);
      rows = page.requests.length;
    }
    took.sort((a, b) => a - b);
    const percentile = (share: number): number =>
      took[Math.min(Math.floor(took.length * share), took.length - 1)] ?? 0;
    figures.push({
      name: filterCase.name,
      p50Ms: percentile(0.5),
      p95Ms: percentile(0.95),
      maxMs: percentile(1),
      rows,
    });
  }
  return figures;
}
