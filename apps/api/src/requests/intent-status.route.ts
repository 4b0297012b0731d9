import { sendJson } from "@causeway/service-kit";
import { statusAnswer, statusQuery, unknownRequest } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { deprecatedRoute } from "../http/deprecated.route.ts";
import { statusJson } from "./status-json.route.ts";
import { statusByIdOrDeposit } from "./request-status.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseHash } from "../http/wire-values.ts";
import { requestNotFound } from "../http/refusals.ts";

/** `GET /intents/status/v3` and its two older paths: one body with the fields of all three. */
export function intentStatusRoutes(app: TypedServer, { call }: Calls<typeof statusByIdOrDeposit>): void {
  for (const { url, operationId, isOld } of [
    { url: "/intents/status/v3", operationId: "getRequestStatus", isOld: false },
    { url: "/intents/status/v2", operationId: "getRequestStatusV2", isOld: true },
    { url: "/intents/status", operationId: "getRequestStatusV1", isOld: true },
  ]) {
    app.get(
      url,
      {
        ...(isOld && { onRequest: deprecatedRoute("/intents/status/v3").onRequest }),
        config: { limited: "status" },
        schema: {
          tags: ["status"],
          operationId,
          summary: isOld
            ? "Same as GET /intents/status/v3"
            : "Get the status of a request and where its funds are",
          deprecated: isOld,
          querystring: statusQuery,
          response: { 200: statusAnswer, 404: unknownRequest, ...errors(400, 401, 403, 429, 500, 503) },
        },
      },
      async (request, reply) => {
        const requestId = parseHash(request.query.requestId);
        const view = await call(statusByIdOrDeposit, requestId);
        if (view === undefined) throw requestNotFound(requestId);
        sendJson(reply, statusJson(view));
        return reply;
      },
    );
  }
}
