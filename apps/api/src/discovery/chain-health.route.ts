import { chainHealthAnswer, oneChainQuery } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { readChainHealth } from "./chain-health.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

/** `GET /chains/health`: whether a chain can be used now. Always 200 for a chain of this instance. */
export function chainHealthRoute(app: TypedServer, { call }: Calls<typeof readChainHealth>): void {
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
    async ({ query }) => await call(readChainHealth, parseChainId(query.chainId)),
  );
}
