import { ServiceError } from "@causeway/domain";
import { bearerTokenCheck } from "@causeway/service-kit";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Admits only requests with the operator's token as `Authorization: Bearer`. Runs before the body is read,
 * but after the rate limit, so that tokens cannot be guessed at will.
 */
export function onlyOperator(token: string) {
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
