import { priceAnswer, quoteFieldErrorCodes, quoteRequest } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { acceptChainAliases } from "../http/chain-aliases.route.ts";
import { deprecatedRoute } from "../http/deprecated.route.ts";
import { priceIntent } from "./price-intent.ts";
import { QUOTE_ANSWER_MS } from "./quote.route.ts";
import { noteNearMisses, withWarnings } from "./quote-warnings.route.ts";
import { limitCallData } from "./quoted-calls.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";

/** `POST /price`, for older clients: what a quote costs and yields, without its steps and its guarantee. */
export function priceRoute(app: TypedServer, { call }: Calls<typeof priceIntent>): void {
  const { onRequest, deprecation } = deprecatedRoute("/quote/v2");
  app.post(
    "/price",
    {
      onRequest,
      preValidation: [acceptChainAliases, noteNearMisses],
      config: {
        fieldErrorCodes: quoteFieldErrorCodes,
        access: { kind: "anybody", scope: "quote" },
        limited: "quote",
        answerWithinMs: QUOTE_ANSWER_MS,
      },
      schema: {
        tags: ["quote"],
        operationId: "getPrice",
        summary: "Preview the price of POST /quote/v2",
        description:
          "Indicative only: nothing is stored or guaranteed. Fails with the same errors as a quote.",
        deprecated: true,
        body: quoteRequest,
        response: { 200: priceAnswer, ...errors(400, 401, 403, 413, 415, 429, 500, 503) },
      },
    },
    async ({ body, apiKey, ip, raw }) => {
      await limitCallData(undefined, { apiKey, ip }, body);
      const price = await call(priceIntent, body, apiKey?.id, apiKey);
      return { ...withWarnings(raw, price), deprecation };
    },
  );
}
