import { formatAmount, USD_DECIMALS } from "@causeway/domain";
import type { ErrorAnswer, CustomErrorAnswer } from "@causeway/service-kit";
import { tokenPriceAnswer, tokenPriceQuery, tokenPriceTextAnswer } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { tokenPrice } from "./token-price.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

const refusals = errors(400, 401, 403, 429, 500, 503);
const config = { errorAnswer: withErrorField };

/** `GET /currencies/token/price`, and `/v2` with the price as text: a number cannot hold all digits. */
export function tokenPriceRoutes(app: TypedServer, { call }: Calls<typeof tokenPrice>): void {
  const description =
    "Configured currencies are priced by this instance's price source, others by pools. 400 if the token has no price, 503 if the price could not be read.";
  app.get(
    "/currencies/token/price",
    {
      config,
      schema: {
        tags: ["currencies"],
        operationId: "getTokenPrice",
        summary: "Get the USD price of a token",
        description,
        querystring: tokenPriceQuery,
        response: { 200: tokenPriceAnswer, ...refusals },
      },
    },
    async ({ query }) => ({
      price: Number(priceText(await call(tokenPrice, parseChainId(query.chainId), query.address))),
    }),
  );
  app.get(
    "/currencies/token/price/v2",
    {
      config,
      schema: {
        tags: ["currencies"],
        operationId: "getTokenPriceText",
        summary: "Get the USD price of a token in full precision",
        description,
        querystring: tokenPriceQuery,
        response: { 200: tokenPriceTextAnswer, ...refusals },
      },
    },
    async ({ query }) => ({
      price: priceText(await call(tokenPrice, parseChainId(query.chainId), query.address)),
    }),
  );
}

function priceText(usd: bigint): string {
  return formatAmount(usd, USD_DECIMALS);
}

/** Adds the message as `error`, where clients of this endpoint read it. */
function withErrorField(standard: ErrorAnswer): CustomErrorAnswer {
  return { ...standard, body: { ...standard.body, error: standard.body.message } };
}
