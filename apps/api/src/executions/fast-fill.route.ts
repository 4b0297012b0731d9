import { ServiceError } from "@causeway/domain";
import { answerFor } from "@causeway/service-kit";
import type { ErrorAnswer, CustomErrorAnswer } from "@causeway/service-kit";
import { fastFillError, fastFillRequest, fastFillUnknown, messageAnswer, usdOfInput } from "@causeway/wire";
import type { FastFillOutcome } from "../balances/fast-fill.port.ts";
import type { StoredAnswer } from "../http/idempotency.port.ts";
import type { Calls } from "../http/use-cases.port.ts";
import { requestFastFill } from "./request-fast-fill.ts";
import { requireKey } from "../http/access.route.ts";
import type { TypedServer } from "../http/typed.route.ts";
import { parseHash } from "../http/wire-values.ts";
import { withIdempotency, type IdempotencyServices } from "../http/with-idempotency.route.ts";

/** `POST /fast-fill`: an app guarantees a deposit, and the fill does not wait for it. */
export function fastFillRoute(
  app: TypedServer,
  needs: IdempotencyServices & Calls<typeof requestFastFill>,
): void {
  app.post(
    "/fast-fill",
    {
      config: { access: { kind: "key", scope: "fast-fill" }, errorAnswer: withCode },
      schema: {
        tags: ["fast-fill"],
        operationId: "requestFastFill",
        summary: "Fill a request before its deposit arrives",
        description:
          "The value of the fill is held on the app balance of the API key's wallet until the deposit is confirmed. If the deposit never arrives, the app pays for it. " +
          "409: the request is already being filled. A filled request returns 200.",
        body: fastFillRequest,
        response: {
          200: messageAnswer,
          400: fastFillError,
          401: fastFillError,
          403: fastFillError,
          404: fastFillUnknown,
          409: fastFillError,
          413: fastFillError,
          415: fastFillError,
          422: fastFillError,
          429: fastFillError,
          500: fastFillError,
          503: fastFillError,
        },
      },
    },
    async (request, reply) => {
      const key = requireKey(request, "fast-fill");
      const { requestId, solverInputCurrencyAmount, maxFillAmountUsd, txHash } = request.body;
      await withIdempotency(
        needs,
        request,
        reply,
        async (lease) =>
          answers[
            await needs.call(requestFastFill, {
              key,
              requestId: parseHash(requestId),
              inputAmount:
                solverInputCurrencyAmount === undefined ? undefined : BigInt(solverInputCurrencyAmount),
              maxUsd: maxFillAmountUsd === undefined ? undefined : usd(maxFillAmountUsd),
              txHash,
              finish: lease && { lease, answer: answers.queued },
            })
          ],
        { errorAnswer: (thrown) => toStored(withCode(answerFor(thrown))) },
      );
    },
  );
}

const answers: Readonly<Record<FastFillOutcome, StoredAnswer>> = {
  queued: toStored({ status: 200, body: { message: "Fast fill queued" } }),
  filled: toStored({ status: 200, body: { message: "Request already filled" } }),
};

function usd(value: number | string): bigint {
  const amount = usdOfInput(value);
  if (amount === undefined)
    throw new ServiceError("INVALID_REQUEST", "maxFillAmountUsd must be an amount in USD");
  return amount;
}

/** Adds `code`, because some clients read the error code under this name. */
function withCode(standard: ErrorAnswer): CustomErrorAnswer {
  return { ...standard, body: { ...standard.body, code: standard.body.errorCode } };
}

function toStored({ status, body }: { readonly status: number; readonly body: object }): StoredAnswer {
  return { status, body: JSON.stringify(body) };
}
