import type { OpenapiDocument } from "./openapi-components.ts";

/** Other names of required fields, by component and field. */
export type OpenapiAliases = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly unknown[];
}

/**
 * Documents that a required field may have another name. Each name becomes an `anyOf` alternative that
 * defines the property. Generators ignore alternatives that only list `required`.
 */
export function withAliases<D extends OpenapiDocument>(document: D, aliases: OpenapiAliases = {}): D {
  const schemas = { ...document.components?.schemas };
  for (const [component, fields] of Object.entries(aliases)) {
    const schema = schemas[component] as ObjectSchema | undefined;
    if (schema === undefined)
      throw new RangeError(`invariant violated: OpenAPI document has no component ${component}`);
    schemas[component] = Object.entries(fields).reduce(withAlias, schema);
  }
  return { ...document, components: { ...document.components, schemas } };
}

function withAlias(schema: ObjectSchema, [field, alias]: readonly [string, string]): ObjectSchema {
  const { [field]: property, ...properties } = schema.properties ?? {};
  if (property === undefined || schema.required?.includes(field) !== true)
    throw new RangeError(`invariant violated: ${field} is not a required field`);
  const named = (name: string, value: object) => ({
    type: "object",
    required: [name],
    properties: { [name]: value },
  });
  const either = {
    anyOf: [named(field, property), named(alias, { ...property, description: `Alias of \`${field}\`.` })],
  };
  return {
    ...schema,
    properties,
    required: schema.required.filter((name) => name !== field),
    allOf: [...(schema.allOf ?? []), either],
  };
}
