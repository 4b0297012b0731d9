import type { FastifyInstance } from "fastify";
import { AttestationError } from "./ports/attestation-error.ts";
import type { ApiKeys } from "./ports/api-keys.ts";

/** Routes that need no key, exactly: what merely begins like one is not among them. */
const OPEN: readonly string[] = ["/lives/v1", "/documentation"];
/** The routes of the documentation's own parts. Compared with routes, never with what a caller wrote. */
const PARTS_OF_DOCUMENTATION = "/documentation/";

/** Lets nobody without a key past, unknown paths included: which paths exist is told to callers alone. */
export function guard(app: FastifyInstance, keys: ApiKeys, metricsOpen: boolean): void {
  const open = new Set(metricsOpen ? [...OPEN, "/metrics"] : OPEN);
  app.addHook("onRequest", (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && (open.has(url) || url.startsWith(PARTS_OF_DOCUMENTATION))) return done();
    // Two headers of that name arrive as one text, which is no key.
    const given = request.headers["x-api-key"];
    if (typeof given === "string" && keys.labelOf(given) !== undefined) return done();
    done(
      new AttestationError(
        "unauthorized",
        given === undefined ? "x-api-key is required" : "x-api-key is not a key of this oracle",
      ),
    );
  });
}
