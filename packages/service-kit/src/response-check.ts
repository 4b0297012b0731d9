import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import type { z } from "zod";

/** An answer that its own schema does not allow: a bug of this service. */
export class ResponseMismatch extends Error {
  constructor(route: string, status: number, problem: string) {
    super(`${status} response of ${route} does not match its schema: ${problem}`);
    this.name = "ResponseMismatch";
  }
}

/**
 * Checks every JSON answer against its route's schema for the status, including undeclared fields, and turns
 * a mismatch into a 500. For tests and staging: it costs about as much as creating the answer.
 */
export function checkResponses(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const responses = request.routeOptions.schema?.response as Record<string, z.ZodType> | undefined;
    const schema = responses?.[reply.statusCode];
    const type = reply.getHeader("content-type");
    if (schema === undefined || typeof type !== "string" || !type.startsWith("application/json")) {
      return payload;
    }
    const problem = mismatch(schema, JSON.parse(bodyText(payload)));
    if (problem === undefined) return payload;
    const route = `${request.method} ${request.routeOptions.url ?? request.url}`;
    throw new ResponseMismatch(route, reply.statusCode, problem);
  });
}

/** The problem with `value`; undefined if the schema describes all of it. */
export function mismatch(schema: z.ZodType, value: unknown): string | undefined {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  }
  // zod drops unknown fields: whatever is missing afterwards is undocumented.
  return isDeepStrictEqual(parsed.data, value) ? undefined : "it has fields that are not in the schema";
}

function bodyText(payload: unknown): string {
  if (typeof payload === "string") return payload;
  if (Buffer.isBuffer(payload)) return payload.toString("utf8");
  throw new TypeError("invariant violated: JSON response sent as neither a string nor a buffer");
}
