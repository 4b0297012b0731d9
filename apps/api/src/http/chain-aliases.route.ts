import { ServiceError } from "@causeway/domain";
import type { FastifyRequest } from "fastify";

/** Chain fields of a quote, and the names that some clients use for them. */
export const chainAliases = { originChainId: "fromChainId", destinationChainId: "toChainId" } as const;
const aliases = Object.entries(chainAliases);

/**
 * Renames aliased chain fields of a quote request. Use as `preValidation` of a route.
 *
 * @throws ServiceError when a field and its alias name different chains
 */
export function acceptChainAliases(
  { body }: Pick<FastifyRequest, "body">,
  _reply: unknown,
  done: () => void,
): void {
  if (typeof body === "object" && body !== null) {
    const fields = body as Record<string, unknown>;
    for (const [name, alias] of aliases) {
      const value = fields[alias];
      if (value === undefined || value === null) continue;
      if (fields[name] !== undefined && Number(fields[name]) !== Number(value))
        throw new ServiceError(
          "INVALID_REQUEST",
          `${alias} must name the same chain as ${name}; send only one of the two`,
          {
            field: alias,
          },
        );
      fields[name] ??= value;
      delete fields[alias];
    }
  }
  done();
}
