import { oneChainQuery, swapSourcesAnswer } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { swapSources } from "./swap-sources.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

/** `GET /swap-sources`: the sources for swaps on a chain. */
export function swapSourcesRoute(app: TypedServer, { call }: Calls<typeof swapSources>): void {
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
    async ({ query }) => call(swapSources, parseChainId(query.chainId)),
  );
}
