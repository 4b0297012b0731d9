import type { FastifyRequest } from "fastify";

/** Field names that some clients use for the chains of a quote. */
const aliases = [
  ["fromChainId", "originChainId"],
  ["toChainId", "destinationChainId"],
] as const;

/** Renames aliased chain fields of a quote request. Use as `preValidation` of a route. */
export function acceptChainAliases(
  { body }: Pick<FastifyRequest, "body">,
  _reply: unknown,
  done: () => void,
): void {
  if (typeof body === "object" && body !== null) {
    const fields = body as Record<string, unknown>;
    for (const [alias, name] of aliases)
      if (fields[name] === undefined && fields[alias] !== undefined) {
        fields[name] = fields[alias];
        delete fields[alias];
      }
  }
  done();
}
