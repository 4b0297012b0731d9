import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { type OpenapiDocument, tidyComponents } from "./openapi-components.ts";

/** What the OpenAPI document says of a service as a whole. */
export interface ApiDescription {
  readonly title: string;
  /** Version of the interface, not of the build. */
  readonly version: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Ways to say who one is, by the names that routes use in `security`. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
}

/** One way of saying who one is. */
export type SecurityScheme = { readonly description: string } & (
  | { readonly type: "apiKey"; readonly in: "header"; readonly name: string }
  | { readonly type: "http"; readonly scheme: "bearer" }
);

/**
 * Serves the OpenAPI 3.0.3 document of all routes added later: the page at `/documentation`, JSON at `/documentation/json`.
 * `interactivePage: false` leaves out the page (and the time it takes to load).
 */
export async function serveDocumentation(
  app: FastifyInstance,
  description: ApiDescription,
  interactivePage: boolean,
): Promise<void> {
  const { tags, securitySchemes, ...info } = description;
  await app.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info,
      tags: [...tags],
      ...(securitySchemes && { components: { securitySchemes: { ...securitySchemes } } }),
    },
    transform: jsonSchemaTransform,
    transformObject: (document) =>
      tidyComponents(jsonSchemaTransformObject(document) as OpenapiDocument) as ReturnType<
        typeof jsonSchemaTransformObject
      >,
  });
  if (interactivePage) {
    await app.register(swaggerUi, { routePrefix: "/documentation", uiConfig: { docExpansion: "list" } });
    return;
  }
  app.get("/documentation/json", { schema: { hide: true } }, () => app.swagger());
}
