import { routeConfigAnswer, routeConfigQuery } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { deprecatedRoute } from "../http/deprecated.route.ts";
import { routeConfig } from "./route-config.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";

/** `GET /config/v2` and `GET /config`, for older clients: whether and how much can be bridged. */
export function routeConfigRoutes(app: TypedServer, { call }: Calls<typeof routeConfig>): void {
  const { onRequest, deprecation } = deprecatedRoute("/quote/v2");
  for (const [url, operationId] of [
    ["/config/v2", "getRouteConfig"],
    ["/config", "getRouteConfigV1"],
  ] as const) {
    app.get(
      url,
      {
        onRequest,
        schema: {
          tags: ["chains"],
          operationId,
          summary: "Check whether a currency can be bridged between two chains, and how much of it",
          description:
            "For older clients. A quote gives the same information for an exact amount, and is binding.",
          deprecated: true,
          querystring: routeConfigQuery,
          response: { 200: routeConfigAnswer, ...errors(400, 401, 403, 429, 500, 503) },
        },
      },
      async ({ query }) => ({
        ...(await call(routeConfig, {
          originChainId: parseChainId(query.originChainId, "originChainId"),
          destinationChainId: parseChainId(query.destinationChainId, "destinationChainId"),
          user: query.user,
          currency: query.currency,
        })),
        deprecation,
      }),
    );
  }
}
