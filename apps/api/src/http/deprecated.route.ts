import type { Deprecation } from "@causeway/wire";
import type { FastifyReply, FastifyRequest } from "fastify";

/** When the old endpoints were marked as deprecated, and how long they remain at least. */
const SINCE = new Date("2026-11-01T00:00:00Z");
const SUNSET = new Date("2027-11-01T00:00:00Z");

/** Response headers of a deprecated route. */
export interface DeprecatedRoute {
  /**
   * Sets the headers before anything else, so that refusals carry them too. Must be the first `onRequest` of
   * the route.
   */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;
  /** The fields for the body of a response, if it is an object. */
  readonly deprecation: Deprecation;
}

/**
 * Headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` toward `successor`, the path to use
 * instead.
 */
export function deprecatedRoute(successor: string): DeprecatedRoute {
  const headers = {
    deprecation: `@${SINCE.getTime() / 1000}`,
    sunset: SUNSET.toUTCString(),
    link: `<${successor}>; rel="successor-version", </documentation/json>; rel="deprecation", </documentation/json>; rel="sunset"`,
  };
  return {
    onRequest: (_request, reply, done) => {
      reply.headers(headers);
      done();
    },
    deprecation: {
      message: `Use ${successor} instead`,
      deprecatedAt: SINCE.toISOString(),
      sunsetAt: SUNSET.toISOString(),
      successor,
    },
  };
}
