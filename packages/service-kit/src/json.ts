import type { FastifyReply } from "fastify";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Sends text that is JSON already, past the framework's serialiser. */
export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.header("content-type", JSON_TYPE).send(json);
}

/**
 * The same text in one piece of memory: one that was put together of hundreds remains hundreds of objects
 * until somebody reads it whole, and a garbage collector has to carry each of them along while the text
 * waits.
 */
export function inOnePiece(text: string): string {
  Buffer.byteLength(text);
  return text;
}

/** No quote, no backslash, no control character, no surrogate (one alone must be escaped). */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Any text as a JSON string; most need no escape, and finding that out is all they cost. */
export function jsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Items joined to a JSON array, each written by `write`. */
export function jsonList<T>(items: readonly T[], write: (item: T) => string): string {
  let json = "";
  for (const item of items) json += json === "" ? write(item) : `,${write(item)}`;
  return `[${json}]`;
}
