import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { concurrentStatements } from "./concurrent-indexes.postgres.ts";

test("a migration runs in a transaction unless it declares otherwise", () => {
  expect(concurrentStatements("a.sql", "create index a on b (c);")).toBeUndefined();
});

test("a migration without a transaction lists the indexes that it builds and drops", () => {
  const text =
    "-- No transaction\n-- Why; it helps\ncreate unique index concurrently a\n  on b (c);\ndrop index concurrently if exists d;\n";
  expect(concurrentStatements("a.sql", text)).toEqual([
    { kind: "create", index: "a", sql: "create unique index concurrently a on b (c)" },
    { kind: "drop", index: "d", sql: "drop index concurrently if exists d" },
  ]);
});

test.each(["alter table a add column b int", "create index a on b (c)", "drop index concurrently a"])(
  "a migration without a transaction must not contain what cannot run twice: %s",
  (statement) => {
    expect(() => concurrentStatements("a.sql", `-- No transaction\n${statement};`)).toThrow(
      `a.sql: a migration without a transaction may contain only`,
    );
  },
);

/** Lock possibly large tables while they build indexes; docs/UPGRADING.md says to stop the service first. */
const WITH_LOCKS = ["0006_hub_lanes.sql"];

test("no migration builds or drops an index of an existing table under a lock", () => {
  const folder = new URL("../../migrations/", import.meta.url);
  const blocking = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .filter((file) => {
      const text = readFileSync(new URL(file, folder), "utf8");
      const created = [...text.matchAll(/create table "?(\w+)/gi)].map(([, table]) => table);
      const indexed = [
        ...text.matchAll(/create (?:unique )?index (?!concurrently)[^;]*? on (?:only )?"?(\w+)/gi),
      ];
      const dropsIndex = /drop index (?!concurrently)/i.test(text);
      return dropsIndex || indexed.some(([, table]) => !created.includes(table));
    });
  expect(blocking).toEqual(WITH_LOCKS);
});
