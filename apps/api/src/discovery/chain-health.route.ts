import { chainHealthAnswer, oneChainQuery } from "@causeway/wire";
import type { RouteServices } from "../http/route-services.port.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { chainId } from "../http/wire-values.ts";

/**
 * `GET /chains/health`: whether a chain can be used now. Always 200 for a chain of this instance: `healthy`
 * tells.
 */
export function chainHealthRoute(app: TypedServer, { discovery }: Pick<RouteServices, "discovery">): void {
  app.get(
    "/chains/health",
    {
      schema: {
        tags: ["chains"],
        operationId: "getChainHealth",
        summary: "Get the health of a chain",
        querystring: oneChainQuery,
        response: { 200: chainHealthAnswer, ...errors(400, 401, 403, 429, 500) },
      },
    },
    async ({ query }) => discovery.health(chainId(query.chainId)),
  );
}
