import type { ZodTypeProvider } from "@causeway/service-kit";
import { errorBody } from "@causeway/wire";
import type { FastifyInstance } from "fastify";

/** The server with request types read from the zod schemas of each route. */
export type TypedServer = ReturnType<typeof withTypes>;

export function withTypes(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

/** Schemas of the errors that a route documents. */
export function errors<S extends number>(...statuses: readonly S[]): Record<S, typeof errorBody> {
  return Object.fromEntries(statuses.map((status) => [status, errorBody])) as Record<S, typeof errorBody>;
}
