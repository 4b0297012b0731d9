import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { Chain, RailChain } from "@causeway/domain";
import { postgresRequestHistory } from "./adapters/postgres/request-history.ts";
import { createPool, sqlOn } from "./adapters/postgres/pool.ts";
import type { Sql } from "./adapters/postgres/pool.ts";
import type { ApiConfig } from "./config.ts";
import type { CurrencyName } from "./ports/request-history.ts";
import type { RouteServices } from "./ports/route-services.ts";
import type { Services } from "./ports/services.ts";
import { listRequests } from "./usecases/history/list-requests.ts";
import { requestTrace } from "./usecases/history/request-trace.ts";
import { SEARCH_PLACES, searchTurns } from "./usecases/history/search-turns.ts";
import { spellingOf } from "./usecases/spelling.ts";

/** A search that an index answers takes a hundredth of this. */
export const SEARCHES = { max: SEARCH_PLACES, statementTimeoutMs: 2_000 };

interface HistoryGround {
  readonly config: Pick<ApiConfig, "database">;
  readonly sql: Sql;
  readonly lifecycle: Pick<Lifecycle, "add">;
}

/** Past requests for the routes. Names of currencies are written down first: a request is listed by what they are called then. */
export async function historyRouteServices(
  services: Pick<Services, "chains">,
  { config, sql, lifecycle }: HistoryGround,
): Promise<Pick<RouteServices, "history">> {
  // Anybody may search, without a key: the connections of quotes and payments are not his to fill.
  const pool = createPool(config.database.url.reveal(), {
    ...SEARCHES,
    applicationName: "causeway searches",
  });
  lifecycle.add("searches", () => pool.end());
  const history = postgresRequestHistory(sql, sqlOn(pool));
  const { all, rails } = services.chains;
  await history.name([...all, ...rails].flatMap(({ chain }) => currencyNames(chain)));
  const needs = { ...services, history, turns: searchTurns() };
  return {
    history: {
      list: (question, searcher) => listRequests(needs, question, searcher),
      trace: (requestId) => requestTrace(needs, requestId),
      spelling: spellingOf(services.chains),
    },
  };
}

/** What the configuration calls the currencies of a chain. */
export function currencyNames(chain: Chain | RailChain): CurrencyName[] {
  const { id, native, tokens } = chain;
  const liquidity = chain.vmType === "evm" ? chain.liquidity : undefined;
  return [native, ...tokens].map(({ address, id: asset, symbol }) => {
    const wrapsNative = address !== NATIVE_CURRENCY && address === liquidity?.wrappedNative;
    // Wrapped coin is the coin, one for one, whatever it is called elsewhere.
    return { chainId: id, address, asset: wrapsNative ? native.id : asset, symbol, wrapsNative };
  });
}
