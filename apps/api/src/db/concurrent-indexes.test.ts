import { expect, test } from "vitest";
import { concurrentStatements } from "./concurrent-indexes.postgres.ts";

test("a migration runs in a transaction unless it declares otherwise", () => {
  expect(concurrentStatements("a.sql", "create index a on b (c);")).toBeUndefined();
});

test("a migration without a transaction lists what it builds and drops", () => {
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
