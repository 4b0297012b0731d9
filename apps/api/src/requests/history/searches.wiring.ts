import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig } from "../../config/config.ts";
import { createPool, sqlOn, type Sql } from "../../db/pool.postgres.ts";
import type { SearchLimiter } from "../../http/usage.port.ts";
import { SEARCH_PLACES, createSearchLimiter } from "./search-limiter.ts";

/** A search that uses an index takes a hundredth of this time. */
export const SEARCHES = { max: SEARCH_PLACES, statementTimeoutMs: 2_000, plans: "per use" } as const;

/** A connection pool for free-form searches, so that they cannot use up the one of quotes and payments. */
export interface Searches {
  readonly sql: Sql;
  readonly limiter: SearchLimiter;
}

export function startSearches({
  config,
  lifecycle,
}: {
  readonly config: Pick<ApiConfig, "database">;
  readonly lifecycle: Pick<Lifecycle, "add">;
}): Searches {
  const pool = createPool(config.database.url.reveal(), {
    ...SEARCHES,
    applicationName: "causeway searches",
  });
  lifecycle.add("searches", () => pool.end());
  return { sql: sqlOn(pool), limiter: createSearchLimiter() };
}
