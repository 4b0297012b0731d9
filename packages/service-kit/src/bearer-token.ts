import type { FastifyRequest } from "fastify";
import { hash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Checks `Authorization: Bearer <token>` in constant time for any length. */
export function bearerTokenCheck(token: string): (request: Pick<FastifyRequest, "headers">) => boolean {
  const expected = digest(token);
  return ({ headers: { authorization = "" } }) => {
    const received = /^bearer /i.test(authorization) ? authorization.slice("bearer ".length).trim() : "";
    return timingSafeEqual(digest(received), expected);
  };
}
