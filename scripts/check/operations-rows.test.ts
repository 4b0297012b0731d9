import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const api = resolve(root, "apps/api/src");
const pages = readdirSync(resolve(root, "docs/operations")).map((file) => `docs/operations/${file}`);
const operations = [...pages, "docs/ALARMS.md"]
  .map((path) => readFileSync(resolve(root, path), "utf8"))
  .join("\n");

const missing = (names: Iterable<string>): string[] =>
  [...new Set(names)].filter((name) => !new RegExp(`(?<![a-z_])${name}(?![a-z_])`).test(operations));

test("the operator docs name every event that is logged", () => {
  const source = readFileSync(resolve(api, "db/events.port.ts"), "utf8");
  const [, union = ""] = source.split("export type EventName =");
  const events = [...union.matchAll(/"([a-z_]+)"/g)].map(([, name = ""]) => name);
  expect(events.length).toBeGreaterThan(100);
  expect(missing(events)).toEqual([]);
});

test("the operator docs name every metric of the API and the worker", () => {
  const folder = resolve(api, "telemetry");
  const files = [
    ...readdirSync(folder).map((file) => resolve(folder, file)),
    resolve(api, "db/redis-memory.ts"),
  ].filter((file) => !file.endsWith(".test.ts"));
  const metrics = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/"(causeway_[a-z_]+)"/g)].map(([, name = ""]) => name),
  );
  expect(metrics.length).toBeGreaterThan(30);
  expect(missing(metrics)).toEqual([]);
});
