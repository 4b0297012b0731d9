import type { Secret } from "@causeway/config";
import { messageAnswer, pauseAnswer, pauseQuery, pauseRequest, pausesAnswer } from "@causeway/wire";
import { adminErrors, adminListErrors, adminRoute } from "../../http/operator-token.route.ts";
import type { TypedServer } from "../../http/typed.route.ts";
import { pauseJson, type PauseAdmin } from "./pause-admin.ts";

interface AdminPausesRouteNeeds {
  readonly pauseAdmin: PauseAdmin;
  /** Undefined: nothing is paused over HTTP. */
  readonly operatorToken: Secret | undefined;
}

/** `/admin/pauses`: stops new requests and payments. Exists only if an operator token is configured. */
export function adminPausesRoutes(
  app: TypedServer,
  { pauseAdmin, operatorToken }: AdminPausesRouteNeeds,
): void {
  if (operatorToken === undefined) return;
  const admin = adminRoute(operatorToken.reveal());

  app.post(
    "/admin/pauses",
    admin({
      operationId: "pause",
      summary: "Pause new quotes and payments of a scope; refunds and settlement continue",
      body: pauseRequest,
      response: { 200: pauseAnswer, ...adminErrors },
    }),
    async ({ body }) => pauseJson(await pauseAdmin.pause(body.scope, body.by, body.reason)),
  );

  app.get(
    "/admin/pauses",
    admin({
      operationId: "listPauses",
      summary: "List what is paused",
      response: { 200: pausesAnswer, ...adminListErrors },
    }),
    async () => ({ pauses: (await pauseAdmin.list()).map(pauseJson) }),
  );

  app.delete(
    "/admin/pauses",
    admin({
      operationId: "resume",
      summary: "Resume a paused scope",
      querystring: pauseQuery,
      response: { 200: messageAnswer, ...adminErrors },
    }),
    async ({ query }) => {
      await pauseAdmin.resume(query.scope);
      return { message: `${query.scope} is no longer paused` };
    },
  );
}
