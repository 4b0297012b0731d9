import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { figuresOf, type Figures } from "./house/figures.ts";

/**
 * Prints what the house of apps/api is measured by, and fails when a figure is above its ceiling. Ceilings
 * may only fall: `--record` lowers them to today's figures, and refuses to raise one.
 */
/** A feature may add lines, so they are printed only. */
type Ceilings = Omit<Figures, "sourceLines">;

const root = resolve(import.meta.dirname, "..");
const CEILINGS = resolve(root, "scripts/house/ceilings.json");
const API = "apps/api/src/";
/** See .dependency-cruiser.cjs. */
const typesOfAllRooms = ["db/services.port.ts", "db/unit-of-work.port.ts", "db/reads.port.ts"];

const files = execFileSync("git", ["ls-files", API], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && existsSync(resolve(root, path)))
  .map((path) => ({ path: path.slice(API.length), text: readFileSync(resolve(root, path), "utf8") }));
const tables = files.map(({ path }) => path).filter((path) => path.endsWith(".tables.ts"));
// Wiring may import config, which names the policies of all rooms; `npm run rooms` checks its order.
const wiring = files.map(({ path }) => path).filter((path) => path.endsWith(".wiring.ts"));
const figures = figuresOf(files, [...typesOfAllRooms, ...tables, ...wiring]);
const ceilings = JSON.parse(readFileSync(CEILINGS, "utf8")) as Ceilings;

const { sourceLines, ...limited } = figures;
const names = Object.keys(limited) as (keyof Ceilings)[];
const above = names.filter((name) => limited[name] > ceilings[name]);
console.log(`${"".padEnd(28)}${"today".padStart(8)}${"ceiling".padStart(9)}`);
console.log(`${"sourceLines".padEnd(28)}${String(sourceLines).padStart(8)}`);
for (const name of names)
  console.log(
    `${name.padEnd(28)}${String(limited[name]).padStart(8)}${String(ceilings[name]).padStart(9)}` +
      (above.includes(name) ? "  above its ceiling" : ""),
  );
if (above.length > 0) process.exitCode = 1;
else if (process.argv.includes("--record")) writeFileSync(CEILINGS, `${JSON.stringify(limited, null, 2)}\n`);
