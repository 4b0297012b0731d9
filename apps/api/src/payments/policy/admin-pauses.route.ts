import type { Secret } from "@causeway/config";
import { messageAnswer, pauseAnswer, pauseQuery, pauseRequest, pausesAnswer } from "@causeway/wire";
import { onlyOperator } from "../../http/operator-token.route.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
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
  const preParsing = onlyOperator(operatorToken.reveal());
  const config = { access: { kind: "unkeyed" } } as const;
  const tags = ["admin"];
  const security = [{ operatorToken: [] }];
  const failures = errors(400, 401, 404, 413, 415, 429, 500, 503);

  app.post(
    "/admin/pauses",
    {
      config,
      preParsing,
      schema: {
        tags,
        security,
        operationId: "pause",
        summary: "Pause new quotes and payments of a scope; refunds and settlement continue",
        body: pauseRequest,
        response: { 200: pauseAnswer, ...failures },
      },
    },
    async ({ body }) => pauseJson(await pauseAdmin.pause(body.scope, body.by, body.reason)),
  );

  app.get(
    "/admin/pauses",
    {
      config,
      preParsing,
      schema: {
        tags,
        security,
        operationId: "listPauses",
        summary: "List what is paused",
        response: { 200: pausesAnswer, ...errors(401, 429, 500, 503) },
      },
    },
    async () => ({ pauses: (await pauseAdmin.list()).map(pauseJson) }),
  );

  app.delete(
    "/admin/pauses",
    {
      config,
      preParsing,
      schema: {
        tags,
        security,
        operationId: "resume",
        summary: "Resume a paused scope",
        querystring: pauseQuery,
        response: { 200: messageAnswer, ...failures },
      },
    },
    async ({ query }) => {
      await pauseAdmin.resume(query.scope);
      return { message: `${query.scope} is no longer paused` };
    },
  );
}
