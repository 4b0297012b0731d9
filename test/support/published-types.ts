import { Ajv, type ErrorObject } from "ajv";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGenerator } from "ts-json-schema-generator";

export interface PublishedTypes {
  /** The names of the operations, for example `GET /chains`. */
  readonly operations: readonly string[];
  /**
   * The places where an answer differs from its type, such as `requests[].data.fees: must be object`. Empty
   * if it matches.
   */
  readonly mismatches: (operation: string, status: number, body: unknown) => string[];
}

type Schemas = Readonly<Record<string, Schema>>;
interface Schema {
  readonly properties?: Schemas;
}

/**
 * Reads the types that the published SDK declares for the answers of each endpoint. Unknown fields are
 * accepted.
 */
export async function readPublishedTypes(): Promise<PublishedTypes> {
  const declared = await readFile(
    new URL("../../_types/src/types/api.d.ts", import.meta.resolve("@relayprotocol/relay-sdk")),
    "utf8",
  );
  const folder = await mkdtemp(join(tmpdir(), "published-types-"));
  const path = join(folder, "api.d.ts");
  // A required member of type `never` would make the whole type `paths` `never`.
  await writeFile(path, declared.replaceAll(": never;", ": unknown;"));
  const schema = createGenerator({
    path,
    type: "paths",
    skipTypeCheck: true,
    additionalProperties: true,
    expose: "none",
    jsDoc: "none",
    topRef: false,
  }).createSchema("paths");
  await rm(folder, { recursive: true });

  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false });
  const answers = new Map<string, Schemas>();
  for (const [url, { properties: methods = {} }] of Object.entries((schema as Schema).properties ?? {}))
    for (const [method, { properties }] of Object.entries(methods))
      answers.set(`${method.toUpperCase()} ${url}`, properties?.["responses"]?.properties ?? {});
  return {
    operations: [...answers.keys()],
    mismatches: (operation, status, body) => {
      const content = answers.get(operation)?.[status]?.properties?.["content"];
      const answer = content?.properties?.["application/json"];
      if (answer === undefined) throw new Error(`no type for the answer ${status} of ${operation}`);
      const validate = ajv.compile(answer);
      if (validate(body)) return [];
      const errors = validate.errors ?? [];
      const ownErrors = errors.filter((error) => !isOfNullable(error));
      return (ownErrors.length > 0 ? ownErrors : errors).map(
        ({ instancePath, message }) => `${placeIn(instancePath)}: ${message}`,
      );
    },
  };
}

/**
 * Whether the error is about the union of a nullable object. Errors inside the object are reported
 * separately.
 */
function isOfNullable({ keyword, schemaPath, params }: ErrorObject): boolean {
  return keyword === "anyOf" || (schemaPath.includes("/anyOf/") && params["type"] === "null");
}

/** Formats `/requests/0/data` as `requests[].data`. */
function placeIn(instancePath: string): string {
  return instancePath
    .slice(1)
    .replaceAll(/(^|\/)\d+(?=\/|$)/g, "[]")
    .replaceAll("/", ".");
}
