import type { StateUnderWay } from "./requests-under-way.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** Every state is told, also when no request is in it: a series that vanishes raises no alarm. */
const STATES = ["deposited", "fillable", "filling", "submitted", "refunding"] as const;

interface Row {
  readonly state: (typeof STATES)[number];
  readonly count: number;
  readonly oldest_ms: number;
}

// The same predicate as the index requests_under_way, which bounds what is read.
export const underWay = statement(
  "requests_under_way",
  `select state, count(*) as count, min(since_ms) as oldest_ms from (
     select state, coalesce(state_since_ms, updated_at_ms) as since_ms from requests
     where state in ('deposited', 'fillable', 'filling', 'submitted', 'refunding')
     order by updated_at_ms limit 10000) as oldest
   group by state`,
);

export async function requestsUnderWay(sql: Sql): Promise<readonly StateUnderWay[]> {
  const rows = await sql.query<Row>(underWay, []);
  return STATES.map((state) => {
    const row = rows.find((one) => one.state === state);
    return { state, count: row?.count ?? 0, oldestMs: row?.oldest_ms };
  });
}
