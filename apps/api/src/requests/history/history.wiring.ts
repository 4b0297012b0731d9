import { spellingOf } from "../../chains/address-format.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import type { Services } from "../../db/services.port.ts";
import type { RouteServices } from "../../http/route-services.port.ts";
import { currencyNames } from "./currency-names.ts";
import { listRequests } from "./list-requests.ts";
import { postgresRequestHistory } from "./request-history.postgres.ts";
import { requestTrace } from "./request-trace.ts";
import type { Searches } from "./searches.wiring.ts";

/** Past requests, searched by the names that currencies have in the configuration, which it stores first. */
export async function historyRouteServices(
  services: Pick<Services, "chains" | "reads" | "enginePolicy"> & { readonly sql: Sql },
  searches: Searches,
): Promise<RouteServices["history"]> {
  const history = postgresRequestHistory(services.sql, searches.sql);
  const { all, rails } = services.chains;
  await history.name([...all, ...rails].flatMap(({ chain }) => currencyNames(chain)));
  const needs = { ...services, history, turns: searches.turns };
  return {
    list: (question, searcher) => listRequests(needs, question, searcher),
    trace: (requestId) => requestTrace(needs, requestId),
    spelling: spellingOf(services.chains),
  };
}
