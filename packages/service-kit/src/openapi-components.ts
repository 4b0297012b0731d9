import { STATUS_CODES } from "node:http";

/** The parts of an OpenAPI document that are rewritten here. */
export interface OpenapiDocument {
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

const REF = "#/components/schemas/";

/**
 * The schema registry names every schema twice, `X` as sent and `XInput` as accepted. Merges the two if they
 * are equal (keeping the input if requests use it). If only `XInput` is used, renames it to `X`. Drops
 * unreferenced schemas, and describes each response by its status.
 */
export function tidyComponents<D extends OpenapiDocument>(document: D): D {
  const schemas = document.components?.schemas ?? {};
  const twins = equalTwins(schemas);
  // Requests may have additional fields. Gateways that validate against this document must accept what the
  // server accepts.
  const inRequests = reachable(document.paths ?? {}, schemas);
  const mergedInputs = Object.fromEntries(
    [...twins].filter((twin) => inRequests.has(twin)).map((twin) => [outputName(twin), schemas[twin]]),
  );
  const merged = renameRefs(
    { paths: document.paths ?? {}, schemas: { ...without(schemas, twins), ...mergedInputs } },
    new Map([...twins].map((twin) => [twin, outputName(twin)])),
  );
  const used = reachable(merged.paths, merged.schemas);
  const lone = [...used].filter((name) => isInput(name, merged.schemas) && !used.has(outputName(name)));
  const names = new Map(lone.map((name) => [name, outputName(name)]));
  const keptSchemas = Object.fromEntries(
    [...used]
      .map((name) => [names.get(name) ?? name, merged.schemas[name]] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const final = renameRefs({ paths: merged.paths, schemas: keptSchemas }, names);
  return {
    ...document,
    paths: nameStatuses(final.paths),
    components: { ...document.components, schemas: final.schemas },
  };
}

type Schemas = Readonly<Record<string, unknown>>;

const outputName = (inputName: string): string => inputName.slice(0, -"Input".length);
const isInput = (name: string, schemas: Schemas): boolean =>
  name.endsWith("Input") && schemas[outputName(name)] !== undefined;
const without = (schemas: Schemas, names: ReadonlySet<string>): Schemas =>
  Object.fromEntries(Object.entries(schemas).filter(([name]) => !names.has(name)));

/** The largest set of `XInput` schemas that equal their `X` once all of them are merged. */
function equalTwins(schemas: Schemas): Set<string> {
  const twins = new Set(Object.keys(schemas).filter((name) => isInput(name, schemas)));
  for (let changed = true; changed;) {
    changed = false;
    const names = new Map([...twins].map((twin) => [twin, outputName(twin)]));
    for (const twin of twins) {
      const input = comparableText(renameRefs(schemas[twin], names));
      const output = comparableText(renameRefs(schemas[outputName(twin)], names));
      if (input === output) continue;
      twins.delete(twin);
      changed = true;
    }
  }
  return twins;
}

/** Ignores whether additional fields are allowed. */
function comparableText(schema: unknown): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    key === "additionalProperties" && value === false ? undefined : value,
  );
}

function renameRefs<T>(value: T, names: ReadonlyMap<string, string>): T {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
    if (key !== "$ref" || typeof inner !== "string" || !inner.startsWith(REF)) return inner;
    const name = inner.slice(REF.length);
    return REF + (names.get(name) ?? name);
  }) as T;
}

function reachable(paths: unknown, schemas: Schemas): Set<string> {
  const seen = new Set<string>();
  const visit = (value: unknown): void => {
    JSON.stringify(value, (key, inner: unknown) => {
      if (key !== "$ref" || typeof inner !== "string" || !inner.startsWith(REF)) return inner;
      const name = inner.slice(REF.length);
      if (!seen.has(name) && schemas[name] !== undefined) {
        seen.add(name);
        visit(schemas[name]);
      }
      return inner;
    });
  };
  visit(paths);
  return seen;
}

function nameStatuses<T>(paths: T): T {
  return JSON.parse(JSON.stringify(paths), (key, inner: unknown) => {
    if (key !== "responses" || typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner as Record<string, Record<string, unknown>>).map(([status, response]) => [
        status,
        { ...response, description: STATUS_CODES[status] ?? response["description"] },
      ]),
    );
  }) as T;
}
