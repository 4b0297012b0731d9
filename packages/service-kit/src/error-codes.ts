import type { FastifyReply } from "fastify";

const codes = new WeakMap<object, string>();

/** Stores the code of an error answer, for counting. */
export function noteErrorCode({ raw }: FastifyReply, code: string): void {
  codes.set(raw, code);
}

/** The code of an error answer; undefined for other answers. */
export function errorCodeOf({ raw }: FastifyReply): string | undefined {
  return codes.get(raw);
}
