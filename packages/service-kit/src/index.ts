export * from "./error-map.ts";
export * from "./fastify.ts";
export * from "./lifecycle.ts";
export * from "./logging.ts";
export * from "./metrics.ts";
export * from "./openapi.ts";
export * from "./response-check.ts";
export type { FieldErrorCodes } from "./schema-problem.ts";
