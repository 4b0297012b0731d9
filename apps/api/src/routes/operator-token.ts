import { ServiceError } from "@causeway/domain";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/**
 * Lets pass who gives the operator's token as `Authorization: Bearer`. Compared in constant time, whatever the lengths. To be hung before the body is read, but after
 * calls are limited: nobody tries out tokens at will.
 */
export function onlyOperator(token: string) {
  const expected = digest(token);
  return (
    request: FastifyRequest,
    _reply: FastifyReply,
    _body: unknown,
    done: (error?: Error) => void,
  ): void => {
    const { authorization = "" } = request.headers;
    const given = /^bearer /i.test(authorization) ? authorization.slice("bearer ".length).trim() : "";
    const isOperator = timingSafeEqual(digest(given), expected);
    if (isOperator) done();
    else done(new ServiceError("UNAUTHORIZED", "the operator's token is required as Authorization: Bearer"));
  };
}
