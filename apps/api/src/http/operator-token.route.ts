import { ServiceError } from "@causeway/domain";
import { bearerTokenCheck } from "@causeway/service-kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import { errors } from "./typed.route.ts";

/**
 * Admits only requests with the operator's token as `Authorization: Bearer`. Runs before the body is read,
 * but after the rate limit, so that guessing tokens is limited.
 */
function onlyOperator(token: string) {
  const isOperator = bearerTokenCheck(token);
  return (
    request: FastifyRequest,
    _reply: FastifyReply,
    _body: unknown,
    done: (error?: Error) => void,
  ): void => {
    if (isOperator(request)) done();
    else
      done(
        new ServiceError(
          "UNAUTHORIZED",
          "Operator token missing or wrong; send OPERATOR_TOKEN as Authorization: Bearer",
        ),
      );
  };
}

/** Errors of a route under `/admin` that takes parameters or a body. */
export const adminErrors = errors(400, 401, 404, 413, 415, 429, 500, 503);

/** Errors of a route under `/admin` that takes nothing. */
export const adminListErrors = errors(401, 429, 500, 503);

/** What all routes under `/admin` have in common: they need the operator's token, and no API key. */
export function adminRoute(token: string) {
  const preParsing = onlyOperator(token);
  return <const Schema extends object>(schema: Schema) => ({
    config: { access: { kind: "unkeyed" } } as const,
    preParsing,
    schema: { tags: ["admin"], security: [{ operatorToken: [] }], ...schema },
  });
}
