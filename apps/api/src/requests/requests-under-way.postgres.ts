import { sql as text } from "drizzle-orm";
import type { StateUnderWay } from "./requests-under-way.port.ts";
import { defineQuery } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requests } from "./requests.tables.ts";

/** Every state is reported, even without requests: a series that disappears raises no alarm. */
const STATES = ["deposited", "fillable", "filling", "submitted", "refunding"] as const;

/** Uses the predicate of the index `requests_under_way`, which bounds the rows that are read. */
const readUnderWay = defineQuery("requests_under_way", (db) => {
  const oldest = db
    .select({
      state: requests.state,
      sinceMs: text<number>`coalesce(${requests.stateSinceMs}, ${requests.updatedAtMs})`
        .mapWith(Number)
        .as("since_ms"),
    })
    .from(requests)
    .where(text`${requests.state} in ('deposited', 'fillable', 'filling', 'submitted', 'refunding')`)
    .orderBy(requests.updatedAtMs)
    .limit(10_000)
    .as("oldest");
  return db
    .select({
      state: oldest.state,
      count: text<number>`count(*)`.mapWith(Number),
      oldestMs: text<number>`min(${oldest.sinceMs})`.mapWith(Number),
    })
    .from(oldest)
    .groupBy(oldest.state);
});

export async function requestsUnderWay(sql: Sql): Promise<readonly StateUnderWay[]> {
  const rows = await readUnderWay(sql, {});
  return STATES.map((state) => {
    const row = rows.find((candidate) => candidate.state === state);
    return { state, count: row?.count ?? 0, oldestMs: row?.oldestMs };
  });
}
