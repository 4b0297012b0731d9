import { answerFor } from "@causeway/service-kit";
import type { ErrorAnswer, CustomErrorAnswer } from "@causeway/service-kit";
import { executeAnswer, executeRequest, plainError, simulationError } from "@causeway/wire";
import type { SimulationErrorBody } from "@causeway/wire";
import { z } from "zod";
import { executeCalls } from "./execute-calls.ts";
import type { ExecuteOutcome } from "./execute.port.ts";
import type { StoredAnswer } from "../http/idempotency.port.ts";
import type { Calls } from "../http/use-cases.port.ts";
import { requireKey, requireReferrer } from "../http/access.route.ts";
import type { TypedServer } from "../http/typed.route.ts";
import { withIdempotency, type IdempotencyServices } from "../http/with-idempotency.route.ts";

/** `POST /execute`: the service sends a call for a user, and an app pays for it. */
export function executeRoute(
  app: TypedServer,
  needs: IdempotencyServices & Calls<typeof executeCalls>,
): void {
  app.post(
    "/execute",
    {
      config: {
        access: { kind: "key", scope: "execute", strict: true },
        errorAnswer: inErrorForm,
      },
      schema: {
        tags: ["execute"],
        operationId: "executeCalls",
        summary: "Send a call for a user, paid from the API key's app balance",
        description:
          "The call is first simulated on the latest state. An accepted call is sent within moments; follow it with `GET /intents/status/v3`. " +
          "Its maximum cost is reserved on the key's funding address until the actual cost is known. With `subsidizeFees: false`, the quoted output pays, and the reservation is released once the quote is filled. The app then pays gas only if the transaction fails on chain or its deposit is refunded. " +
          "With an `Idempotency-Key`, a call is accepted once, and repeating it returns the first response.",
        body: executeRequest,
        response: {
          200: executeAnswer,
          400: z.union([simulationError, plainError]),
          401: plainError,
          409: plainError,
          413: plainError,
          415: plainError,
          422: plainError,
          429: plainError,
          500: plainError,
          503: plainError,
        },
      },
    },
    async (request, reply) => {
      const caller = requireKey(request, "execute");
      requireReferrer(caller, request.body.executionOptions.referrer);
      await withIdempotency(
        needs,
        request,
        reply,
        async (lease) => toAnswer(await needs.call(executeCalls, caller, request.body, lease)),
        { errorAnswer: (thrown) => toStored(inErrorForm(answerFor(thrown))) },
      );
    },
  );
}

function toAnswer(outcome: ExecuteOutcome): StoredAnswer {
  if (outcome.kind === "accepted") return toStored({ status: 200, body: outcome.answer });
  const { label, message, details } = outcome.failure;
  const body: SimulationErrorBody = {
    error: label,
    message,
    requestId: outcome.requestId,
    details: { ...details, path: [...details.path] },
  };
  return toStored({ status: 400, body });
}

function toStored({ status, body }: { readonly status: number; readonly body: object }): StoredAnswer {
  return { status, body: JSON.stringify(body) };
}

/** The error statuses that this endpoint returns in addition to 400 and 500. */
const ERROR_STATUSES: ReadonlySet<number> = new Set([401, 409, 413, 415, 422, 429, 503]);

/**
 * Maps an error to the form of this endpoint, whose errors have exactly one field. Removes the prefix of
 * nested fields: `data.to is required` becomes `to is required`.
 */
function inErrorForm(standard: ErrorAnswer): CustomErrorAnswer {
  const status = ERROR_STATUSES.has(standard.status)
    ? standard.status
    : standard.status >= 500
      ? 500
      : standard.status === 403
        ? 401
        : 400;
  const error = standard.body.message.replace(/^(data|executionOptions)\./, "");
  return { ...standard, status, body: { error } };
}
