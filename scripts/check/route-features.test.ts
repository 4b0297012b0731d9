import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { coveringTests, featureRows, routeOf } from "../../test/e2e/feature-rows.ts";
import { cellName, reasonAgainst, tableCells, type RouteCell } from "../../test/support/route-features.ts";

// The table of docs/NON-EVM.md must match the tests: each "yes" names a test of the whole system. Each "no"
// is tested in apps/api/src/quotes/route-refusals.test.ts.

const e2e = resolve(import.meta.dirname, "../../test/e2e");

const covered: readonly RouteCell[] = [
  ...featureRows
    .filter(({ isRefunded }) => isRefunded !== true)
    .flatMap((row) => row.features.map((feature) => ({ feature, route: routeOf(row) }))),
  ...coveringTests.flatMap(({ features, routes }) =>
    features.flatMap((feature) => routes.map((route) => ({ feature, route }))),
  ),
];

test("every feature that a route has is tested end to end: name its test in test/e2e/feature-rows.ts", () => {
  const names = new Set(covered.map(cellName));
  const yes = tableCells().filter(({ reason }) => reason === undefined);
  expect(yes.length).toBeGreaterThanOrEqual(75);
  expect(yes.map(cellName).filter((name) => !names.has(name))).toEqual([]);
});

test("no test claims a feature that its route lacks", () => {
  const lacking = covered.filter(({ feature, route }) => reasonAgainst(feature, route) !== undefined);
  expect(lacking.map(cellName)).toEqual([]);
});

test("the tests that cover a feature exist", () => {
  const missing = coveringTests.filter(({ file, test: name }) => {
    const path = resolve(e2e, file);
    const source = existsSync(path) ? readFileSync(path, "utf8") : "";
    return !['"', "'", "`"].some((quote) => source.includes(quote + name + quote));
  });
  expect(missing.map(({ file, test: name }) => `${file}: ${name}`)).toEqual([]);
});
