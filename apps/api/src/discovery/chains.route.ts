import { createHash } from "node:crypto";
import { sendJson } from "@causeway/service-kit";
import { type ChainsAnswer, chainsAnswer, chainsQuery } from "@causeway/wire";
import type { FastifyReply } from "fastify";
import type { createChainList } from "./list-chains.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";

interface ChainsRouteNeeds {
  readonly listChains: ReturnType<typeof createChainList>;
}

/** `GET /chains`. The body and its ETag are computed once for each object that `listChains` returns. */
export function chainsRoute(app: TypedServer, { listChains }: ChainsRouteNeeds): void {
  let cached: { readonly answer: ChainsAnswer; readonly bytes: Buffer; readonly etag: string } | undefined;

  function current(): { readonly bytes: Buffer; readonly etag: string } {
    const answer = listChains();
    if (cached?.answer !== answer) {
      const bytes = Buffer.from(JSON.stringify(answer));
      cached = {
        answer,
        bytes,
        etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`,
      };
    }
    return cached;
  }

  app.get(
    "/chains",
    {
      schema: {
        tags: ["chains"],
        operationId: "listChains",
        summary: "List the chains and currencies of this instance",
        description:
          "Returns an `ETag`; with `If-None-Match`, the response is 304 while nothing has changed.",
        querystring: chainsQuery,
        response: { 200: chainsAnswer, ...errors(401, 403, 429, 500, 503) },
      },
    },
    async (request, reply: FastifyReply) => {
      const { bytes, etag } = current();
      reply.headers({ etag, "cache-control": "no-cache" });
      // Proxies that compress make the tag weak (`W/"…"`), and a client may send several.
      const isUnchanged = request.headers["if-none-match"]?.includes(etag) === true;
      return isUnchanged ? reply.code(304).send() : sendJson(reply, bytes);
    },
  );
}
