import type { FastifyInstance } from "fastify";
import { AttestationError } from "./ports/attestation-error.ts";
import type { ApiKeys } from "./ports/api-keys.ts";
import { limitWrongKeys } from "./wrong-keys.ts";

/** Routes without a key, matched exactly, not by prefix. */
const OPEN_ROUTES: readonly string[] = ["/lives/v1", "/documentation"];
/** Routes of the documentation's assets. Compared with routes, never with the requested path. */
const DOCUMENTATION_ASSETS = "/documentation/";

/**
 * Refuses every call without a key, even to unknown paths, so that only key holders learn which paths exist.
 * A valid key also works from an address that sent wrong ones: a proxy may be shared, and keys are too long
 * to guess.
 */
export function guard(app: FastifyInstance, keys: ApiKeys, metricsOpen: boolean): void {
  const open = new Set(metricsOpen ? [...OPEN_ROUTES, "/metrics"] : OPEN_ROUTES);
  const wrongKeys = limitWrongKeys(() => performance.now());
  const check = (key: string, address: string): void => {
    if (keys.labelOf(key) !== undefined) return;
    wrongKeys.check(address);
    wrongKeys.count(address);
    throw new AttestationError("unauthorized", "x-api-key is not a key of this oracle");
  };
  app.addHook("onRequest", (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && (open.has(url) || url.startsWith(DOCUMENTATION_ASSETS))) return done();
    const header = request.headers["x-api-key"];
    if (header === undefined) return done(new AttestationError("unauthorized", "x-api-key is required"));
    try {
      // Two headers of that name arrive as one text, which is not a key.
      check(typeof header === "string" ? header : "", request.ip);
      done();
    } catch (error) {
      done(
        error instanceof Error ? error : new TypeError("invariant violated: thrown value is not an error"),
      );
    }
  });
}
