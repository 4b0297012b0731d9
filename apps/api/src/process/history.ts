import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Chain, RailChain } from "@causeway/domain";
import { postgresRequestHistory } from "../requests/history/request-history.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { Searches } from "./searches.ts";
import type { CurrencyName } from "../requests/history/request-history.port.ts";
import type { RouteServices } from "../http/route-services.port.ts";
import type { Services } from "../db/services.port.ts";
import { listRequests } from "../requests/history/list-requests.ts";
import { requestTrace } from "../requests/history/request-trace.ts";
import { spellingOf } from "../chains/address-format.ts";

interface HistoryGround {
  readonly sql: Sql;
  readonly searches: Searches;
}

/**
 * Past requests for the routes. Names of currencies are written down first: a request is listed by what they
 * are called then.
 */
export async function historyRouteServices(
  services: Pick<Services, "chains" | "reads" | "enginePolicy">,
  { sql, searches }: HistoryGround,
): Promise<Pick<RouteServices, "history">> {
  const history = postgresRequestHistory(sql, searches.sql);
  const { all, rails } = services.chains;
  await history.name([...all, ...rails].flatMap(({ chain }) => currencyNames(chain)));
  const needs = { ...services, history, turns: searches.turns };
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
