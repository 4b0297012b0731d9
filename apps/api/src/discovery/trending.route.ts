import { currenciesAnswer, trendingQuery, wholeNumber } from "@causeway/wire";
import type { RouteServices } from "../http/route-services.port.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { chainId } from "../http/wire-values.ts";

/** `GET /currencies/trending`: what this instance's own requests are about. */
export function trendingRoute(app: TypedServer, { discovery }: Pick<RouteServices, "discovery">): void {
  app.get(
    "/currencies/trending",
    {
      schema: {
        tags: ["currencies"],
        operationId: "listTrendingCurrencies",
        summary: "List the currencies with the most requests in the last day and week",
        description:
          "Counts this instance's paid requests in verified currencies, and fills the list up with featured currencies. Results may be some minutes old.",
        querystring: trendingQuery,
        response: { 200: currenciesAnswer, ...errors(400, 401, 403, 429, 500) },
      },
    },
    async ({ query }) => [
      ...discovery.trending({
        chainId: query.chainId === undefined ? undefined : chainId(query.chainId),
        by: query.sortBy?.toLowerCase() === "volume" ? "volume" : "requests",
        limit: wholeNumber(query.limit) ?? 0,
      }),
    ],
  );
}
