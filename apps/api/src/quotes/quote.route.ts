import { quoteAnswer, quoteFieldErrorCodes, quoteRequest } from "@causeway/wire";
import type { QuoteAnswer } from "@causeway/wire";
import type { StoredAnswer } from "../http/idempotency.port.ts";
import type { RateLimits } from "../http/rate-limits.port.ts";
import type { Calls } from "../http/use-cases.port.ts";
import { acceptChainAliases } from "../http/chain-aliases.route.ts";
import { quoteAs } from "./create-quote.ts";
import { deprecatedRoute } from "../http/deprecated.route.ts";
import { limitCallData } from "./quoted-calls.route.ts";
import { noteNearMisses, withWarnings } from "./quote-warnings.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import {
  IDEMPOTENCY_DESCRIPTION,
  withIdempotency,
  type IdempotencyServices,
} from "../http/with-idempotency.route.ts";

/** Maximum time to wait for chains and prices; users do not wait longer for a quote. */
export const QUOTE_ANSWER_MS = 5_000;

interface QuoteRouteNeeds extends IdempotencyServices, Calls<typeof quoteAs<StoredAnswer>> {
  /** Undefined: rate limits are disabled. */
  readonly limits: RateLimits | undefined;
  /** Counts a quote by its outcome. */
  countQuote<T>(quote: Promise<T>): Promise<T>;
  /** Records a quote in its request's trace. */
  traceQuote(requestId: string, tookMs: number): void;
}

/** `POST /quote/v2`, and `POST /quote` for older clients: one schema, one answer. */
export function quoteRoutes(app: TypedServer, needs: QuoteRouteNeeds): void {
  for (const { url, operationId, isOld } of [
    { url: "/quote/v2", operationId: "createQuote", isOld: false },
    { url: "/quote", operationId: "createQuoteV1", isOld: true },
  ]) {
    app.post(
      url,
      {
        ...(isOld && { onRequest: deprecatedRoute("/quote/v2").onRequest }),
        config: {
          fieldErrorCodes: quoteFieldErrorCodes,
          access: { kind: "anybody", scope: "quote" },
          limited: "quote",
          answerWithinMs: QUOTE_ANSWER_MS,
        },
        preValidation: [acceptChainAliases, noteNearMisses],
        schema: {
          tags: ["quote"],
          operationId,
          summary: isOld ? "Same as POST /quote/v2" : "Price an intent and get the steps to carry it out",
          description: `${IDEMPOTENCY_DESCRIPTION} Without a secret API key, the header is ignored, since a repeated quote moves no funds. Destination calls (\`txs\`) are then limited to 4096 bytes of data per quote, and to the operator's limit of bytes per IP address and 24 hours.`,
          deprecated: isOld,
          body: quoteRequest,
          response: { 200: quoteAnswer, ...errors(400, 401, 403, 409, 413, 415, 422, 429, 500, 503) },
        },
      },
      async (request, reply) =>
        await withIdempotency(
          needs,
          request,
          reply,
          async () => {
            await limitCallData(needs.limits, request, request.body);
            const beganAtMs = performance.now();
            const serialize = (answer: QuoteAnswer): StoredAnswer => {
              needs.traceQuote(answer.requestId, performance.now() - beganAtMs);
              return { status: 200, body: JSON.stringify(withWarnings(request.raw, answer)) };
            };
            const { body, apiKey } = request;
            return await needs.countQuote(
              needs.call(quoteAs<StoredAnswer>, body, serialize, apiKey?.id, apiKey),
            );
          },
          { needsSecretKey: true },
        ),
    );
  }
}
