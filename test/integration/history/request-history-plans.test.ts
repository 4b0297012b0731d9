import { afterAll, beforeAll, expect, test } from "vitest";
import type pg from "pg";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { pageStatement } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import { filterCases, questionFor, type StoredFacts } from "../../../bench/history/filters.ts";
import { storeHistory } from "../../../bench/history/store-history.ts";
import { storedFacts } from "../../../bench/history/stored-facts.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const STORED = 20_000;
/**
 * A page has 21 rows. A filter that matches fewer than one row in a hundred uses its own index. Matches of
 * other filters are found by scanning.
 */
const MAX_SCANNED_ROWS = 1_500;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

let database: TestDatabase;
let pool: pg.Pool;
let facts: StoredFacts;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeHistory(database.url, STORED);
  pool = createPool(database.url, { max: 2, statementTimeoutMs: 10_000, applicationName: "test" });
  facts = await storedFacts(pool, 20);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function planOf(statement: {
  readonly text: string;
  readonly values: readonly unknown[];
}): Promise<Plan> {
  const { rows } = await pool.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
    `explain (analyze, format json) ${statement.text}`,
    [...statement.values],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a statement has no plan");
  return row["QUERY PLAN"][0].Plan;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
const scannedRows = (plan: Plan): number =>
  nodesOf(plan)
    .filter((node) => node["Node Type"].endsWith("Scan"))
    .reduce(
      (sum, node) =>
        sum + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
      0,
    );

test.for(filterCases)(
  "$name is answered from an index, after reading few of many rows",
  async (filterCase) => {
    const statement = pageStatement(questionFor(filterCase, facts, 3));
    expect(statement.text).not.toMatch(/offset/i);
    const plan = await planOf(statement);
    expect(
      nodesOf(plan).filter((node) => node["Node Type"] === "Seq Scan"),
      JSON.stringify(plan),
    ).toEqual([]);
    expect(scannedRows(plan), JSON.stringify(plan)).toBeLessThan(MAX_SCANNED_ROWS);
  },
);

test("a page deep in the list costs the same as the first one", async () => {
  const first = await planOf(pageStatement(questionFor({ name: "deep", query: () => ({}) }, facts, 0)));
  const { rows } = await pool.query<{ key: string; n: string }>(
    "select created_at_ms as key, n from request_history order by created_at_ms limit 1 offset 200",
  );
  const [row] = rows;
  if (row === undefined) throw new Error("invariant violated: no request is stored");
  const after = { key: BigInt(row.key), n: BigInt(row.n) };
  const deep = await planOf(
    pageStatement({ ...questionFor({ name: "deep", query: () => ({ after }) }, facts, 0) }),
  );
  expect(scannedRows(deep)).toBe(scannedRows(first));
});
