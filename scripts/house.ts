import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { versionsOf } from "./check/file-history.ts";
import { problemWith, raisedCeilings, type Ceilings } from "./house/ceilings.ts";
import { filesPerEndpoint, listsOfEndpoints } from "./house/endpoint-files.ts";
import { figuresOf, type SourceFile } from "./house/figures.ts";

/**
 * Prints the figures of the structure of apps/api, and fails if a figure is above its ceiling, if a
 * ceiling was not lowered to its figure, or if a commit raised one. `--record` lowers ceilings.
 */
const root = resolve(import.meta.dirname, "..");
const CEILINGS = "scripts/house/ceilings.json";
const API = "apps/api/src/";
const SCHEMAS = "packages/wire/src/";
/** See .dependency-cruiser.cjs. */
const typesOfAllRooms = ["db/services.port.ts", "db/unit-of-work.port.ts", "db/reads.port.ts"];

const files = filesOf(API)
  .filter(({ path }) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map(({ path, text }) => ({ path: path.slice(API.length), text }));
const tables = files.map(({ path }) => path).filter((path) => path.endsWith(".tables.ts"));
// Wiring may import config, which names the policies of all rooms; `npm run rooms` checks its order.
const wiring = files.map(({ path }) => path).filter((path) => path.endsWith(".wiring.ts"));
const lists = endpointLists();
const figures: Ceilings = {
  ...figuresOf(files, [...typesOfAllRooms, ...tables, ...wiring]),
  filesPerEndpoint: filesPerEndpoint(lists),
};
const versions = versionsOf(CEILINGS).map((text) => JSON.parse(text) as Ceilings);
const ceilings = versions.at(-1) ?? {};

const rows = Object.entries(figures).map(([name, figure]) => ({
  name,
  figure,
  ceiling: ceilings[name],
  problem: problemWith(name, figure, ceilings[name]),
}));
console.log(`${"".padEnd(28)}${"today".padStart(8)}${"ceiling".padStart(9)}`);
for (const { name, figure, ceiling, problem } of rows)
  console.log(
    `${name.padEnd(28)}${String(figure).padStart(8)}${String(ceiling ?? "none").padStart(9)}` +
      (problem === undefined ? "" : `  ${problem}`),
  );
console.log(`lists that name every endpoint: ${lists.join(", ")}`);

const growths = raisedCeilings(versions);
for (const growth of growths) console.error(`${CEILINGS}: the history raises a ceiling: ${growth}`);
const canRecord = rows.every(({ problem }) => problem !== "above its ceiling");
if (process.argv.includes("--record") && canRecord)
  writeFileSync(resolve(root, CEILINGS), `${JSON.stringify(figures, null, 2)}\n`);
else if (rows.some(({ problem }) => problem !== undefined)) {
  if (canRecord) console.error('Run "npm run house -- --record" to write the ceilings');
  process.exitCode = 1;
}
if (growths.length > 0) process.exitCode = 1;

/** Lists that a new endpoint must be added to, except tests and generated documents. */
function endpointLists(): readonly string[] {
  const document = JSON.parse(readFileSync(resolve(root, "openapi/api.json"), "utf8")) as {
    readonly paths: Readonly<Record<string, unknown>>;
  };
  const schemas = filesOf(`${SCHEMAS}api/`).filter(({ path }) => !path.endsWith(".test.ts"));
  const routes = files
    .filter(({ path, text }) => path.endsWith(".route.ts") && text.includes("operationId"))
    .flatMap(({ text }) => [...text.matchAll(/^export (?:async )?function (\w+Routes?)\(/gm)]);
  const candidates = filesOf(API, SCHEMAS, "docs", "test/support", "packages/localnet").filter(
    ({ path }) => /\.(?:md|ts)$/.test(path) && !path.endsWith(".test.ts"),
  );
  return listsOfEndpoints(candidates, {
    paths: Object.keys(document.paths),
    routes: routes.map(([, name = ""]) => name),
    schemas: schemas.map(({ path }) => `./${path.slice(SCHEMAS.length)}`),
  });
}

function filesOf(...folders: readonly string[]): readonly SourceFile[] {
  return execFileSync("git", ["ls-files", "--", ...folders], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && existsSync(resolve(root, path)))
    .map((path) => ({ path, text: readFileSync(resolve(root, path), "utf8") }));
}
