import { oneChainQuery, swapSourcesAnswer } from "@causeway/wire";
import type { RouteServices } from "../http/route-services.port.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { chainId } from "../http/wire-values.ts";

/** `GET /swap-sources`: where tokens of a chain can be exchanged. */
export function swapSourcesRoute(app: TypedServer, services: Pick<RouteServices, "swapSources">): void {
  app.get(
    "/swap-sources",
    {
      schema: {
        tags: ["chains"],
        operationId: "listSwapSources",
        summary: "List the swap sources of a chain",
        querystring: oneChainQuery,
        response: { 200: swapSourcesAnswer, ...errors(400, 401, 403, 429, 500) },
      },
    },
    async ({ query }) => services.swapSources(chainId(query.chainId)),
  );
}
