import type { FastifyReply } from "fastify";

const codes = new WeakMap<object, string>();

/** Keeps the code of an error answer for whoever counts answers. */
export function noteErrorCode({ raw }: FastifyReply, code: string): void {
  codes.set(raw, code);
}

/** The code that an error was answered with; undefined when the answer was none. */
export function errorCodeOf({ raw }: FastifyReply): string | undefined {
  return codes.get(raw);
}
