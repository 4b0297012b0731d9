import { currenciesAnswer, currenciesRequest, currencyGroupsAnswer } from "@causeway/wire";
import type { CurrenciesInput, ListedCurrency } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import type { RateLimits } from "../http/rate-limits.port.ts";
import { limitExternalSearches } from "../http/rate-limit.route.ts";
import type { createCurrencySearch } from "./search-currencies.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";

const refusals = errors(400, 401, 403, 413, 415, 429, 500, 503);

interface CurrenciesRouteNeeds {
  readonly searchCurrencies: ReturnType<typeof createCurrencySearch>;
  /** Undefined: rate limits are disabled. */
  readonly limits: RateLimits | undefined;
}

/** `POST /currencies/v2`, and `/currencies/v1`, which returns the same currencies in groups. */
export function currenciesRoutes(app: TypedServer, { searchCurrencies, limits }: CurrenciesRouteNeeds): void {
  const search = async ({
    body,
    apiKey,
    ip,
  }: Pick<FastifyRequest<{ Body: CurrenciesInput }>, "body" | "apiKey" | "ip">) => {
    if (body.useExternalSearch === true) await limitExternalSearches(limits, { apiKey, ip });
    return await searchCurrencies(body);
  };
  const description =
    "Currencies from this instance's configuration come first, then those from its token lists, best match first. " +
    "The order is stable while nothing changes.";
  app.post(
    "/currencies/v2",
    {
      schema: {
        tags: ["currencies"],
        operationId: "listCurrencies",
        summary: "Find currencies by name, symbol, address, asset or chain",
        description,
        body: currenciesRequest,
        response: { 200: currenciesAnswer, ...refusals },
      },
    },
    async ({ body, apiKey, ip }) => [...(await search({ body, apiKey, ip }))],
  );
  app.post(
    "/currencies/v1",
    {
      schema: {
        tags: ["currencies"],
        operationId: "listCurrencyGroups",
        summary: "Same as POST /currencies/v2, grouped by asset",
        description,
        body: currenciesRequest,
        response: { 200: currencyGroupsAnswer, ...refusals },
      },
    },
    async ({ body, apiKey, ip }) => groupById(await search({ body, apiKey, ip })),
  );
}

/** Groups in the order of their first currencies. */
function groupById(currencies: readonly ListedCurrency[]): ListedCurrency[][] {
  return [...Map.groupBy(currencies, ({ id }) => id).values()];
}
