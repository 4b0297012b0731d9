import type { FastifyInstance } from "fastify";

/** Headers that API clients send; browsers send them only with permission. */
const ALLOWED_HEADERS = [
  "content-type",
  "x-api-key",
  "authorization",
  "idempotency-key",
  "relay-sdk-version",
  "relay-kit-ui-version",
].join(", ");

/** Response headers that scripts may read. */
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
 * Allows scripts of every origin to call every route: the API uses no cookies, so an origin proves nothing
 * and needs no list. Not a CORS plugin, because the headers are fixed and need no work per request.
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
