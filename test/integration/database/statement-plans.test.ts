import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { namedStatements } from "../../../apps/api/src/db/define-query.postgres.ts";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { fillTables, SMALL_TABLES } from "../../support/fill-tables.ts";

const SOURCES = fileURLToPath(new URL("../../../apps/api/src/", import.meta.url));
const ROWS = 5_000;

/** Statements that may read all rows of a table, with the reason. */
const READS_ALL: Readonly<Record<string, string>> = {
  balance_totals: "once a minute; transfers to the solver are rare",
  job_runs_forget_all: "deletes them, when Redis lost the queues",
  read_slots_from_nonce: "once per lane, when payments were lost",
  status_events_prune: "once a minute; no index has the request of a delivery",
  used_contracts_open_orders: "at start, for replaced contracts",
  used_contracts_open_quotes: "at start, for replaced contracts",
};
/** Statements of operator reports: they use a connection that plans each statement for its values. */
const IS_REPORT = /^operator_/;
/** Statements that read the catalog instead of a table of the service. */
const IS_CATALOG = /^pg_/;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

let database: TestDatabase;
let pool: pg.Pool;
let partialIndexes: ReadonlySet<string>;

beforeAll(async () => {
  for await (const path of glob("**/*.postgres.ts", { cwd: SOURCES }))
    await import(pathToFileURL(join(SOURCES, path)).href);
  database = await createTestDatabase();
  await fillTables(database.url, ROWS);
  pool = createPool(database.url, { max: 1, statementTimeoutMs: 10_000, applicationName: "test" });
  const { rows } = await pool.query<{ name: string }>(
    "select indexrelid::regclass::text as name from pg_index where indpred is not null",
  );
  partialIndexes = new Set(rows.map(({ name }) => name));
}, 60_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** The plan that a connection caches: it does not depend on the values of one use. */
async function genericPlan(text: string): Promise<Plan> {
  const { rows } = await pool.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
    `explain (generic_plan, format json) ${text}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a statement has no plan");
  return row["QUERY PLAN"][0].Plan;
}

/**
 * Scans of all rows of a table that grows. Partial indexes do not count, because they have few rows: those
 * that still need work.
 */
function wholeScans(plan: Plan, isUnderLimit = false): string[] {
  const { "Node Type": type, "Relation Name": table, "Index Name": index, "Index Cond": condition } = plan;
  const isLimited = isUnderLimit || type === "Limit";
  const scansBelow = (plan.Plans ?? []).flatMap((subplan) =>
    wholeScans(subplan, isLimited && type !== "Sort"),
  );
  if (
    type === "Seq Scan" &&
    table !== undefined &&
    SMALL_TABLES[table] === undefined &&
    !IS_CATALOG.test(table)
  )
    return [`all rows of ${table}`, ...scansBelow];
  const isWhole = index !== undefined && condition === undefined && !partialIndexes.has(index);
  return isWhole && !isLimited ? [`all entries of ${index}`, ...scansBelow] : scansBelow;
}

test("no statement of the service reads all rows of a table that grows", async () => {
  expect(namedStatements().size).toBeGreaterThan(300);
  const found: Record<string, string> = {};
  for (const [name, text] of namedStatements()) {
    const scans = wholeScans(await genericPlan(text()));
    if (scans.length > 0 && !IS_REPORT.test(name)) found[name] = scans.join(", ");
  }
  const unexpected = Object.entries(found).filter(([name]) => READS_ALL[name] === undefined);
  expect(Object.fromEntries(unexpected)).toEqual({});
  expect(Object.keys(READS_ALL).filter((name) => found[name] === undefined)).toEqual([]);
});
