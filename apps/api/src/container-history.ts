import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Chain } from "@causeway/domain";
import { postgresRequestHistory } from "./adapters/postgres/request-history.ts";
import type { Sql } from "./adapters/postgres/pool.ts";
import type { CurrencyName } from "./ports/request-history.ts";
import type { RouteServices } from "./ports/route-services.ts";
import type { Services } from "./ports/services.ts";
import { listRequests } from "./usecases/history/list-requests.ts";
import { requestTrace } from "./usecases/history/request-trace.ts";

/** Past requests for the routes. Names of currencies are written down first: a request is listed by what they are called then. */
export async function historyRouteServices(
  services: Pick<Services, "chains">,
  sql: Sql,
): Promise<Pick<RouteServices, "history">> {
  const history = postgresRequestHistory(sql);
  await history.name(services.chains.all.flatMap(({ chain }) => currencyNames(chain)));
  const needs = { ...services, history };
  return {
    history: {
      list: (question) => listRequests(needs, question),
      trace: (requestId) => requestTrace(needs, requestId),
    },
  };
}

/** What the configuration calls the currencies of a chain. */
export function currencyNames({ id, native, tokens, liquidity }: Chain): CurrencyName[] {
  return [native, ...tokens].map(({ address, id: asset, symbol }) => {
    const wrapsNative = address !== NATIVE_CURRENCY && address === liquidity?.wrappedNative;
    // Wrapped coin is the coin, one for one, whatever it is called elsewhere.
    return { chainId: id, address, asset: wrapsNative ? native.id : asset, symbol, wrapsNative };
  });
}
