import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { type OpenapiAliases, withAliases } from "./openapi-aliases.ts";
import { type OpenapiDocument, tidyComponents } from "./openapi-components.ts";
import { type OpenapiExamples, withExamples } from "./openapi-examples.ts";
import { icon, logo } from "./openapi-logo.ts";

/** The service as a whole in the OpenAPI document. */
export interface ApiDescription {
  readonly title: string;
  /** Version of the interface, not of the build. */
  readonly version: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** URLs of instances; the interactive page calls the first. */
  readonly servers?: readonly { readonly url: string; readonly description: string }[];
  /** Other names under which required fields of components are accepted. */
  readonly aliases?: OpenapiAliases;
  /** Example values of components and, by name, of parameters. */
  readonly examples?: OpenapiExamples;
  /** Authentication schemes, by the names that routes use in `security`. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
}

/** One authentication scheme. */
export type SecurityScheme = { readonly description: string } & (
  | { readonly type: "apiKey"; readonly in: "header"; readonly name: string }
  | { readonly type: "http"; readonly scheme: "bearer" }
);

/**
 * Serves the OpenAPI 3.0.3 document of all routes added later: the page at `/documentation`, JSON at
 * `/documentation/json`. `interactivePage: false` omits the page (and the time it takes to load).
 */
export async function serveDocumentation(
  app: FastifyInstance,
  description: ApiDescription,
  interactivePage: boolean,
): Promise<void> {
  const { tags, servers, aliases, examples, securitySchemes, ...info } = description;
  await app.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info,
      tags: [...tags],
      ...(servers && { servers: [...servers] }),
      ...(securitySchemes && { components: { securitySchemes: { ...securitySchemes } } }),
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => {
      const tidy = tidyComponents(jsonSchemaTransformObject(document) as OpenapiDocument);
      return withAliases(withExamples(tidy, examples), aliases) as ReturnType<
        typeof jsonSchemaTransformObject
      >;
    },
  });
  const page = interactivePage ? "/documentation" : "/documentation/json";
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect(page));
  if (!interactivePage) {
    app.get(page, { schema: { hide: true } }, () => app.swagger());
    return;
  }
  await app.register(swaggerUi, {
    routePrefix: page,
    uiConfig: { docExpansion: "list", displayOperationId: false, tryItOutEnabled: true },
    theme: {
      title: info.title,
      favicon: [{ filename: "favicon.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: icon }],
    },
    logo: { type: "image/svg+xml", content: logo, href: page, target: "_self" },
  });
}
