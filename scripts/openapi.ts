import { readFile, writeFile } from "node:fs/promises";
import { createLogger, createMetrics } from "@causeway/service-kit";
import type { RouteServices } from "../apps/api/src/ports/route-services.ts";
import { buildServer } from "../apps/api/src/server.ts";

/**
 * Writes openapi/api.json from the routes and schemas of the API; with `--check` writes nothing and fails when the file differs.
 * Touches no network and no database: the services behind the routes are empty.
 */
const target = new URL("../openapi/api.json", import.meta.url);

const unused = (): never => {
  throw new Error("the document is made without calling a service");
};
const services: RouteServices = {
  listChains: unused,
  createQuote: unused,
  requestStatus: unused,
  requestSignature: unused,
  indexTransaction: unused,
  recordSingleTransaction: unused,
  readiness: unused,
};

const app = await buildServer(
  {
    ...services,
    log: createLogger({ name: "openapi", level: "silent" }),
    metrics: createMetrics("openapi"),
  },
  { interactiveDocumentation: false },
);
await app.ready();
const text = `${JSON.stringify(sortedKeys(app.swagger()), undefined, 2)}\n`;
await app.close();

if (process.argv.includes("--check")) {
  const committed = await readFile(target, "utf8").catch(() => "");
  if (committed !== text) {
    console.error(
      "openapi/api.json does not describe the API as it is: run `pnpm openapi` and commit the file",
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}

/** The same keys in the same order whatever order the code names them in, so that a diff shows only what changed. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortedKeys(inner)] as const),
  );
}
