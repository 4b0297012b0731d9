import { formatAmount, USD_DECIMALS } from "@causeway/domain";
import type { ErrorAnswer, OwnErrorAnswer } from "@causeway/service-kit";
import { tokenPriceAnswer, tokenPriceQuery, tokenPriceTextAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { errors, type TypedServer } from "./typed.ts";
import { chainId } from "./wire-values.ts";

const refusals = errors(400, 401, 403, 429, 500, 503);
const config = { errorAnswer: inErrorForm };

/** `GET /currencies/token/price`, and `/v2` with the price as text: a number cannot hold all digits. */
export function tokenPriceRoutes(app: TypedServer, { discovery }: Pick<RouteServices, "discovery">): void {
  const description =
    "From the price source of this instance for its own currencies, from pools for others. 400 when a token has no price at all, 503 when it could not be read now.";
  app.get(
    "/currencies/token/price",
    {
      config,
      schema: {
        tags: ["currencies"],
        operationId: "getTokenPrice",
        summary: "USD price of a token",
        description,
        querystring: tokenPriceQuery,
        response: { 200: tokenPriceAnswer, ...refusals },
      },
    },
    async ({ query }) => ({
      price: Number(priceText(await discovery.tokenPrice(chainId(query.chainId), query.address))),
    }),
  );
  app.get(
    "/currencies/token/price/v2",
    {
      config,
      schema: {
        tags: ["currencies"],
        operationId: "getTokenPriceText",
        summary: "USD price of a token, with all its digits",
        description,
        querystring: tokenPriceQuery,
        response: { 200: tokenPriceTextAnswer, ...refusals },
      },
    },
    async ({ query }) => ({
      price: priceText(await discovery.tokenPrice(chainId(query.chainId), query.address)),
    }),
  );
}

function priceText(usd: bigint): string {
  return formatAmount(usd, USD_DECIMALS);
}

/** Clients of this endpoint read the words in `error`. */
function inErrorForm(usual: ErrorAnswer): OwnErrorAnswer {
  return { ...usual, body: { ...usual.body, error: usual.body.message } };
}
