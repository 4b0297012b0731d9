import type { Deprecation } from "@causeway/wire";
import type { FastifyReply, FastifyRequest } from "fastify";

/** When the endpoints that clients of older versions use were marked, and how long they stay at least. */
const SINCE = new Date("2026-11-01T00:00:00Z");
const SUNSET = new Date("2027-11-01T00:00:00Z");

/** Response headers of a deprecated route. */
export interface DeprecatedRoute {
  /** Sets the headers at once, so that refusals carry them too. To be the first `onRequest` of the route. */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;
  /** For the body of an answer that is an object. */
  readonly deprecation: Deprecation;
}

/**
 * Headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` toward `successor`, the path to use
 * instead.
 */
export function deprecated(successor: string): DeprecatedRoute {
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
