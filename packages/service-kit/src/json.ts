import type { FastifyReply } from "fastify";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Sends JSON text without the framework's serializer. */
export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.header("content-type", JSON_TYPE).send(json);
}
