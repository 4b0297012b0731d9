import type { OpenapiDocument } from "./openapi-components.ts";

/** Example values that readers and tools, such as the interactive page, can send unchanged. */
export interface OpenapiExamples {
  /** Examples by the name of a schema in `components`. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** Examples by the name of a required parameter; the interactive page would also send optional ones. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Adds the examples. A service without a feature does not have its schemas, so examples of missing
 * schemas are omitted.
 */
export function withExamples<D extends OpenapiDocument>(
  document: D,
  examples: OpenapiExamples | undefined,
): D {
  if (examples === undefined) return document;
  const schemas = { ...document.components?.schemas };
  for (const [name, example] of Object.entries(examples.schemas)) {
    const schema = schemas[name];
    if (typeof schema === "object" && schema !== null) schemas[name] = { ...schema, example };
  }
  return {
    ...document,
    paths: withParameterExamples(document.paths ?? {}, examples.parameters),
    components: { ...document.components, schemas },
  };
}

function withParameterExamples<T>(paths: T, examples: OpenapiExamples["parameters"]): T {
  return JSON.parse(JSON.stringify(paths), (key, inner: unknown) => {
    if (key !== "parameters" || !Array.isArray(inner)) return inner;
    return inner.map((parameter: { readonly name: string; readonly required?: boolean }) =>
      parameter.required === true && Object.hasOwn(examples, parameter.name)
        ? { ...parameter, example: examples[parameter.name] }
        : parameter,
    );
  }) as T;
}
