import { allOf } from "../../support/all-of.ts";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { endOfMonth, monthOf } from "../../../apps/api/src/db/month.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import { NEWEST_MS, storeHistory } from "../../../bench/history/store-history.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const STORED = 4_000;
/** With about this many rows left, they may be sorted at once. */
const LAST_ROWS = 1_600;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeHistory(database.url, STORED);
  pool = createPool(database.url, { max: 2, statementTimeoutMs: 60_000, applicationName: "test" });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
const rowsRead = (plan: Plan): number =>
  nodesOf(plan)
    .filter((node) => node["Relation Name"] !== undefined || node["Index Name"] !== undefined)
    .reduce(
      (sum, node) =>
        sum + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
      0,
    );

test("a page of exported entries or payments reads only its own rows, also near the end", async () => {
  const client = await pool.connect();
  const pages: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const noted = new Proxy(client, {
    get: (target, name) =>
      name === "query"
        ? async (statement: { readonly text: string; readonly values: readonly unknown[] }) => {
            if (/row_to_json\("(request_history|slots)"\)/.test(statement.text ?? "")) pages.push(statement);
            return await target.query(statement as pg.QueryConfig);
          }
        : (Reflect.get(target, name) as unknown),
  });
  try {
    const store = archiveStore(noted);
    const month = monthOf(NEWEST_MS);
    await store.begin(month, endOfMonth(month), endOfMonth(month));
    const archive = await store.unfinished();
    if (archive === undefined) throw new Error("nothing to archive");
    await store.read(archive, async (_table, batches) => void (await allOf(batches)));
    expect(pages.length).toBeGreaterThan(STORED / 100);
    // As for large tables.
    await client.query("set enable_seqscan = off");
    for (const { text, values } of pages) {
      const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        [...values],
      );
      const [found] = rows;
      if (found === undefined) throw new Error("a statement has no plan");
      const [{ Plan: plan }] = found["QUERY PLAN"];
      expect(rowsRead(plan), text).toBeLessThanOrEqual(4 * plan["Actual Rows"] + LAST_ROWS);
    }
  } finally {
    client.release(true);
  }
});
