import { sendJson } from "@causeway/service-kit";
import { oracleChainsAnswer, oracleError } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import type { TypedServer } from "./typed.ts";

export function chainsRoute(app: TypedServer, services: Pick<RouteServices, "listChains">): void {
  app.get(
    "/chains/v1",
    {
      schema: {
        tags: ["oracle"],
        operationId: "listChains",
        summary: "List the chains that this oracle attests",
        response: { 200: oracleChainsAnswer, 401: oracleError, 429: oracleError },
      },
    },
    async (_request, reply) => sendJson(reply, JSON.stringify(services.listChains())),
  );
}
