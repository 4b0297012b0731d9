import type { FastifyInstance } from "fastify";

/** Headers that clients of this API family send; browsers ask for leave first. */
const ALLOWED_HEADERS = [
  "content-type",
  "x-api-key",
  "authorization",
  "idempotency-key",
  "relay-sdk-version",
  "relay-kit-ui-version",
].join(", ");

/** Headers of ours that scripts may read. */
const EXPOSED_HEADERS = [
  "Deprecation",
  "Sunset",
  "Link",
  "ETag",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Idempotency-Replayed",
].join(", ");

const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets scripts of every origin call every route: the API takes no cookies, so an origin proves nothing and
 * needs no list. Written out because a fixed answer needs none of a CORS plugin's decisions per request.
 */
export function allowEveryOrigin(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("access-control-allow-origin", "*");
    if (request.headers.origin !== undefined) reply.header("access-control-expose-headers", EXPOSED_HEADERS);
    done();
  });
  app.options("*", { schema: { hide: true } }, (_request, reply) =>
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, HEAD, POST",
        "access-control-allow-headers": ALLOWED_HEADERS,
        "access-control-max-age": String(PREFLIGHT_SECONDS),
      })
      .send(),
  );
}
