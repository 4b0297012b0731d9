import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig } from "../../config/config.ts";
import { monotonicClock } from "../../config/monotonic-clock.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import type { Services } from "../../db/services.port.ts";
import { pollTraffic } from "./polled-traffic.postgres.ts";
import { createTokenBook } from "./token-book.adapter.ts";
import type { TokenBook } from "./token-book.port.ts";
import type { TokenCatalog } from "./token-catalog.port.ts";
import { createTokenLists } from "./token-lists.adapter.ts";
import type { RecentTraffic } from "./token-traffic.port.ts";
import { createUnlistedTokens } from "./unlisted-tokens.adapter.ts";

/** The largest public lists have several megabytes. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** Not more often, because each poll reads the requests of a week. */
const TRAFFIC_EVERY_MS = 5 * 60_000;

/**
 * Starts the book of all known tokens. Waits for the first read of the token lists, within its timeout. A
 * list that is unavailable is read again later.
 */
export async function startTokenBook({
  config,
  chains,
  events,
  lifecycle,
}: Pick<Services, "chains" | "events"> & {
  readonly config: Pick<ApiConfig, "tokenLists">;
  readonly lifecycle: Lifecycle;
}): Promise<TokenBook & TokenCatalog> {
  const { sources, refreshMs, timeoutMs } = config.tokenLists;
  const lists = createTokenLists({
    sources,
    chainIds: new Set(chains.evmChains.map(({ chain }) => chain.id)),
    refreshMs,
    bounds: { maxBytes: MAX_LIST_BYTES, timeoutMs },
    onFault: (error, facts) => events.fault("token_list_fault", error, facts),
  });
  lifecycle.add("token lists", () => lists.close());
  await lists.refresh();
  return createTokenBook({
    chains,
    lists,
    unlisted: createUnlistedTokens({ chains, monotonic: monotonicClock }),
  });
}

/** Starts to count how often tokens were recently requested. */
export function startTraffic({
  sql,
  clock,
  events,
  lifecycle,
}: Pick<Services, "clock" | "events"> & {
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
}): RecentTraffic {
  const traffic = pollTraffic(sql, {
    clock,
    everyMs: TRAFFIC_EVERY_MS,
    onFault: (error) => events.fault("token_traffic_fault", error, {}),
  });
  lifecycle.add("token traffic", () => traffic.close());
  return traffic;
}
