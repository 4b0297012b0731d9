import { Ajv, type AnySchema } from "ajv";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createGenerator } from "ts-json-schema-generator";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../check/run-command.ts";
import { renderTemplates } from "./template.ts";

const chart = join(root, "deploy/helm/causeway");

/** An object of Kubernetes, as the chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

type Values = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Merges like Helm: maps are merged, everything else is replaced. */
function mergeValues(base: Values, overrides: Values): Values {
  const entries = Object.entries(overrides).map(([name, value]) => {
    const baseValue = base[name];
    return [name, isMap(value) && isMap(baseValue) ? mergeValues(baseValue, value) : value];
  });
  return { ...base, ...(Object.fromEntries(entries) as Values) };
}

const yamlFile = async (path: string): Promise<Values> =>
  parse(await readFile(join(chart, path), "utf8")) as Values;

/** The chart's values merged with those of an installation. */
export const valuesWith = async (overrides: Values): Promise<Values> =>
  mergeValues(await yamlFile("values.yaml"), overrides);

const valuesValidator = readFile(join(chart, "values.schema.json"), "utf8").then((schema) =>
  new Ajv({ allErrors: true, strict: false }).compile(JSON.parse(schema) as AnySchema),
);

/** The places where values violate values.schema.json. */
export async function valueProblems(overrides: Values): Promise<readonly string[]> {
  const validate = await valuesValidator;
  return validate(await valuesWith(overrides)) ? [] : (validate.errors ?? []).map(problemOf);
}

const problemOf = (error: { instancePath: string; message?: string; propertyName?: string }): string =>
  `${error.instancePath}${error.propertyName === undefined ? "" : ` ${error.propertyName}`} ${error.message ?? ""}`;

/** The chart's templates by name. */
async function templatesOf(): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(join(chart, "templates"))).sort();
  const texts = names.map(
    async (name) => [name, await readFile(join(chart, "templates", name), "utf8")] as const,
  );
  return new Map(await Promise.all(texts));
}

/**
 * What the chart installs as release `causeway`.
 * @throws Error for a template that the renderer does not support
 */
export async function renderChart(overrides: Values): Promise<readonly Manifest[]> {
  const rules = await readFile(join(chart, "files/rules.yml"), "utf8");
  const rendered = renderTemplates(await templatesOf(), {
    Values: await valuesWith(overrides),
    Release: { Name: "causeway", Service: "Helm" },
    Files: (name: string) => (name === "files/rules.yml" ? rules : ""),
  });
  return [...rendered].flatMap(([name, text]) =>
    parseAllDocuments(text).flatMap((document) => {
      const [problem] = [...document.errors, ...document.warnings];
      if (problem !== undefined) throw new Error(`${name}: ${problem.message}\n${text}`);
      return (document.toJS() as Manifest | null) ?? [];
    }),
  );
}

/** Checks objects against Kubernetes' own types, with no unknown field. @throws Error for another kind */
export function kubernetesProblems(manifests: readonly Manifest[]): readonly string[] {
  const type = "KubernetesObjects";
  const path = join(import.meta.dirname, "kubernetes.ts");
  const schema = createGenerator({ path, type, skipTypeCheck: true, jsDoc: "none" }).createSchema(type);
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false }).addSchema(
    schema as AnySchema,
    "objects",
  );
  return manifests.flatMap((manifest) => {
    const validate = ajv.getSchema(`objects#/definitions/${manifest.kind}`);
    if (validate === undefined) throw new Error(`no schema for ${manifest.kind}: add it to ${path}`);
    if (validate(manifest) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = "", params }) =>
        `${manifest.kind} ${manifest.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  });
}
