import { plainFirst, sendJson } from "@causeway/service-kit";
import { quoteAnswer, quoteFieldErrorCodes, quoteRequest } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { plainQuoteBody } from "./plain-inputs.ts";
import { quoteJson } from "./quote-json.ts";
import { errors, type TypedServer } from "./typed.ts";

/** `POST /quote/v2`, and `POST /quote` for older clients: one schema, one answer. */
export function quoteRoutes(app: TypedServer, services: Pick<RouteServices, "createQuote">): void {
  for (const { url, deprecated } of [
    { url: "/quote/v2", deprecated: false },
    { url: "/quote", deprecated: true },
  ]) {
    app.post(
      url,
      {
        config: { fieldErrorCodes: quoteFieldErrorCodes },
        validatorCompiler: plainFirst(plainQuoteBody),
        schema: {
          tags: ["quote"],
          summary: deprecated
            ? "The same as POST /quote/v2"
            : "Price an intent and get the steps to carry it out",
          deprecated,
          body: quoteRequest,
          response: { 200: quoteAnswer, ...errors(400, 413, 415, 500, 503) },
        },
      },
      async (request, reply) => {
        sendJson(reply, quoteJson(await services.createQuote(request.body)));
      },
    );
  }
}
