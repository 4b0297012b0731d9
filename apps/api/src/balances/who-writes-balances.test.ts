import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const src = join(import.meta.dirname, "..");
const LEDGER = "balances/ledger.tables.ts";
const WRITES = /\.(insert|update|delete)\(|insert into|delete from|merge into|update \$\{/i;

/** Files with statements on the tables of the ledger. */
function filesOnLedger(): readonly string[] {
  return globSync("**/*.postgres.ts", { cwd: src }).filter((file) =>
    /from "[./a-z-]*\/ledger\.tables\.ts"/.test(readFileSync(join(src, file), "utf8")),
  );
}

test("only ledger-writes files write the tables of balances", () => {
  const writers = filesOnLedger().filter((file) => WRITES.test(readFileSync(join(src, file), "utf8")));
  expect(writers.toSorted()).toEqual([
    "balances/ledger-writes-together.postgres.ts",
    "balances/ledger-writes.postgres.ts",
  ]);
});

test("no statement names a table of balances as text", () => {
  const tables = [...readFileSync(join(src, LEDGER), "utf8").matchAll(/pgTable\(\s*"([a-z_]+)"/g)];
  const names = tables.map(([, name]) => name);
  expect(names).toHaveLength(4);
  const named = new RegExp(`\\b(from|join|into|update)\\s+(${names.join("|")})\\b`, "i");
  const files = globSync("**/*.ts", { cwd: src }).filter((file) => !file.endsWith(".test.ts"));
  expect(files.filter((file) => named.test(readFileSync(join(src, file), "utf8")))).toEqual([]);
});
