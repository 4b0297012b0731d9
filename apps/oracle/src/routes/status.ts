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
        summary: "Get the status of this oracle on the hub and on each chain",
        response: { 200: oracleStatus, 401: oracleError, 429: oracleError },
      },
    },
    async (_request, reply) => sendJson(reply, JSON.stringify(await services.reportStatus())),
  );
}
