import { chainLiquidityAnswer, oneChainQuery } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { chainLiquidity } from "./chain-liquidity.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

/** `GET /chains/liquidity`: the amounts that the solver can pay out on a chain now. */
export function chainLiquidityRoute(app: TypedServer, { call }: Calls<typeof chainLiquidity>): void {
  app.get(
    "/chains/liquidity",
    {
      schema: {
        tags: ["chains"],
        operationId: "getChainLiquidity",
        summary: "Get the solver's available liquidity on a chain",
        querystring: oneChainQuery,
        response: { 200: chainLiquidityAnswer, ...errors(400, 401, 403, 429, 500, 503) },
      },
    },
    async ({ query }) => await call(chainLiquidity, parseChainId(query.chainId)),
  );
}
