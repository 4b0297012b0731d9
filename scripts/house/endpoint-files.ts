import type { SourceFile } from "./figures.ts";

/** Files of the endpoint: the schema, the route, the use case and the test. */
const OWN_FILES = 4;

/** Names of endpoints; a list of all endpoints has all names of one of these groups. */
export interface EndpointNames {
  /** Paths as in the OpenAPI document: `/requests/{requestId}/trace`. */
  readonly paths: readonly string[];
  /** Functions that add routes: `requestTraceRoute`. */
  readonly routes: readonly string[];
  /** Specifiers of the files of schemas: `./api/request-history.ts`. */
  readonly schemas: readonly string[];
}

/** Files that name every endpoint, so that a new one must be added to them. */
export function listsOfEndpoints(
  files: readonly SourceFile[],
  { paths, routes, schemas }: EndpointNames,
): readonly string[] {
  const groups = [paths.map(patternOfPath), routes.map(patternOfName), schemas.map(patternOfName)].filter(
    (group) => group.length > 0,
  );
  return files
    .filter(({ text }) => groups.some((group) => group.every((pattern) => pattern.test(text))))
    .map(({ path }) => path);
}

/** How many files a new endpoint touches, without generated ones. */
export function filesPerEndpoint(lists: readonly string[]): number {
  return OWN_FILES + lists.length;
}

/** A parameter may be written as `{id}`, `:id`, `${id}` or as an example value. */
function patternOfPath(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map(escaped);
  return new RegExp(`${parts.join(String.raw`[^/\s"]+`)}(?![\\w/-])`);
}

function patternOfName(name: string): RegExp {
  return new RegExp(`(?<!\\w)${escaped(name)}(?!\\w)`);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
