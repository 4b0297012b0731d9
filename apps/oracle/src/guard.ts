import type { FastifyInstance } from "fastify";
import { AttestationError } from "./ports/attestation-error.ts";
import type { ApiKeys } from "./ports/api-keys.ts";
import { limitWrongKeys } from "./wrong-keys.ts";

/** Routes that need no key, exactly: what merely begins like one is not among them. */
const OPEN: readonly string[] = ["/lives/v1", "/documentation"];
/** The routes of the documentation's own parts. Compared with routes, never with what a caller wrote. */
const PARTS_OF_DOCUMENTATION = "/documentation/";

/**
 * Refuses every call without a key, to unknown paths too: only callers learn which paths exist. A right key
 * is accepted from an address that guesses, too: a proxy may be shared, and keys are too long to be guessed.
 */
export function guard(app: FastifyInstance, keys: ApiKeys, metricsOpen: boolean): void {
  const open = new Set(metricsOpen ? [...OPEN, "/metrics"] : OPEN);
  const wrongKeys = limitWrongKeys(() => performance.now());
  const check = (given: string, address: string): void => {
    if (keys.labelOf(given) !== undefined) return;
    wrongKeys.check(address);
    wrongKeys.count(address);
    throw new AttestationError("unauthorized", "x-api-key is not a key of this oracle");
  };
  app.addHook("onRequest", (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && (open.has(url) || url.startsWith(PARTS_OF_DOCUMENTATION))) return done();
    const given = request.headers["x-api-key"];
    if (given === undefined) return done(new AttestationError("unauthorized", "x-api-key is required"));
    try {
      // Two headers of that name arrive as one text, which is no key.
      check(typeof given === "string" ? given : "", request.ip);
      done();
    } catch (error) {
      done(
        error instanceof Error ? error : new TypeError("invariant violated: thrown value is not an error"),
      );
    }
  });
}
