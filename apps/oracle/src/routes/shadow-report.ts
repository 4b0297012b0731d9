import { sendJson } from "@causeway/service-kit";
import { oracleError, shadowReport } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import type { TypedServer } from "./typed.ts";

export function shadowReportRoute(app: TypedServer, services: Pick<RouteServices, "shadowReport">): void {
  app.get(
    "/shadow/v1/report",
    {
      schema: {
        tags: ["oracle"],
        operationId: "getShadowReport",
        summary: "Get how often this oracle agrees with its peers",
        response: { 200: shadowReport, 401: oracleError, 429: oracleError },
      },
    },
    async (_request, reply) => sendJson(reply, JSON.stringify(services.shadowReport())),
  );
}
