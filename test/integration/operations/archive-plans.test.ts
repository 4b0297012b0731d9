import { allOf } from "../../support/all-of.ts";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { endOfMonth, monthOf } from "../../../apps/api/src/db/month.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import { NEWEST_MS, storeHistory } from "../../../bench/history/store-history.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const STORED = 4_000;
/** The number of positions in a page. */
const RANGE = 100;
/** The number of additional rows that a page may read, such as payments that keep their calldata. */
const LAST_ROWS = 200;

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

test("a page of exported entries or payments reads only its own rows, even near the end", async () => {
  const client = await pool.connect();
  const pages: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const recording = new Proxy(client, {
    get: (target, name) =>
      name === "query"
        ? async (statement: { readonly text: string; readonly values: readonly unknown[] }) => {
            if (/"(request_history|slots)" as row/.test(statement.text ?? "")) pages.push(statement);
            return await target.query(statement as pg.QueryConfig);
          }
        : (Reflect.get(target, name) as unknown),
  });
  try {
    const store = archiveStore(recording);
    const month = monthOf(NEWEST_MS);
    await store.begin(month, endOfMonth(month), endOfMonth(month));
    const archive = await store.unfinished();
    if (archive === undefined) throw new Error("nothing to archive");
    const { after, through } = await store.positions();
    for (const table of ["request_history", "slots"] as const)
      for (let position = after; position < through; position += RANGE)
        await allOf(store.read(archive, table, { after: position, through: position + RANGE }));
    expect(pages.length).toBeGreaterThanOrEqual((2 * STORED) / RANGE);
    // Forces the plans that Postgres chooses for large tables.
    await client.query("set enable_seqscan = off");
    for (const { text, values } of pages) {
      const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        [...values],
      );
      const [explained] = rows;
      if (explained === undefined) throw new Error("a statement has no plan");
      const [{ Plan: plan }] = explained["QUERY PLAN"];
      const rowCount = plan.Plans?.[0]?.["Actual Rows"] ?? 0;
      expect(rowsRead(plan), text).toBeLessThanOrEqual(4 * rowCount + LAST_ROWS);
    }
  } finally {
    client.release(true);
  }
});
