import type { Lifecycle } from "@causeway/service-kit";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { ApiConfig } from "../config/config.ts";
import type { SearchTurns } from "../http/usage.port.ts";
import { SEARCH_PLACES, searchTurns } from "../requests/history/search-turns.ts";

/** A search that an index answers takes a hundredth of this. */
export const SEARCHES = { max: SEARCH_PLACES, statementTimeoutMs: 2_000 };

/**
 * Connections for what callers ask in their own words: those of quotes and payments are not theirs to fill.
 */
export interface Searches {
  readonly sql: Sql;
  readonly turns: SearchTurns;
}

export function startSearches(
  config: Pick<ApiConfig, "database">,
  lifecycle: Pick<Lifecycle, "add">,
): Searches {
  const pool = createPool(config.database.url.reveal(), {
    ...SEARCHES,
    applicationName: "causeway searches",
  });
  lifecycle.add("searches", () => pool.end());
  return { sql: sqlOn(pool), turns: searchTurns() };
}
