import { sendJson } from "@causeway/service-kit";
import { oracleError, oracleStatus } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import type { TypedServer } from "./typed.ts";

export function statusRoute(app: TypedServer, services: Pick<RouteServices, "reportStatus">): void {
  app.get(
    "/status/v1",
    {
      schema: {
        tags: ["oracle"],
        operationId: "getStatus",
        summary: "Whether the hub counts this oracle, and what it can see",
        response: { 200: oracleStatus, 401: oracleError, 429: oracleError },
      },
    },
    async (_request, reply) => sendJson(reply, JSON.stringify(await services.reportStatus())),
  );
}
