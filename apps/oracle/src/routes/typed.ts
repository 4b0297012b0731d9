import type { ZodTypeProvider } from "@causeway/service-kit";
import { oracleError } from "@causeway/wire";
import type { FastifyInstance } from "fastify";

/** The server with request types inferred from each route's zod schemas. */
export type TypedServer = ReturnType<typeof typed>;

export function typed(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

/** Schemas of the errors of every attestation. */
export const attestationErrors = {
  400: oracleError,
  401: oracleError,
  409: oracleError,
  429: oracleError,
  500: oracleError,
  503: oracleError,
} as const;

/** Options of this instance for its routes. */
export interface RouteOptions {
  readonly shadow: boolean;
  /** Whether callers need a key. */
  readonly keyed: boolean;
}
