import { currenciesAnswer, trendingQuery, wholeNumber } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { trendingCurrencies } from "./trending-currencies.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

/** `GET /currencies/trending`: the most requested currencies of this instance. */
export function trendingRoute(app: TypedServer, { call }: Calls<typeof trendingCurrencies>): void {
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
      ...call(trendingCurrencies, {
        chainId: query.chainId === undefined ? undefined : parseChainId(query.chainId),
        by: query.sortBy?.toLowerCase() === "volume" ? "volume" : "requests",
        limit: wholeNumber(query.limit) ?? 0,
      }),
    ],
  );
}
