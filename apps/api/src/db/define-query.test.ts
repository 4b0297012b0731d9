import { sql as text } from "drizzle-orm";
import { expect, test } from "vitest";
import { outbox } from "./db.tables.ts";
import {
  defineQuery,
  defineReport,
  namedStatements,
  outputsOf,
  textAndValues,
  type Params,
} from "./define-query.postgres.ts";
import type { Sql, Statement } from "./pool.postgres.ts";

test("outputs have their own names, in the given order", () => {
  const { text: list } = textAndValues(outputsOf({ chainJob: outbox.jobId, count: text`count(*)` }));
  expect(list).toBe('"outbox"."job_id" as "chainJob", count(*) as "count"');
});

test("a report is one named statement, and sends a parameter that is used twice once", async () => {
  const queries: [Statement, readonly unknown[]][] = [];
  const sql: Pick<Sql, "query"> = {
    async query(statement, values) {
      queries.push([statement, values]);
      return [];
    },
  };
  const report = defineReport<{ id: string }>(
    "jobs",
    ({ id }) => text`select 1 as one from ${outbox} where ${id}::text is null or ${outbox.jobId} = ${id}`,
  );
  await report(sql, { id: "a" });
  expect(queries).toEqual([
    [
      expect.objectContaining({
        name: "jobs",
        text: 'select 1 as one from "outbox" where $1::text is null or "outbox"."job_id" = $1',
      }),
      ["a"],
    ],
  ]);
});

test("lists the texts of all statements, including those of the query builder", () => {
  defineQuery("job_of_id", (db, { id }: Params<{ id: number }>) =>
    db
      .select({ jobId: outbox.jobId })
      .from(outbox)
      .where(text`${outbox.id} = ${id}`),
  );
  expect(namedStatements().get("job_of_id")?.()).toBe(
    'select "job_id" from "outbox" where "outbox"."id" = $1',
  );
});

test("refuses two statements with the same name", () => {
  const define = () => defineReport("same_name", () => text`select 1 as one`);
  define();
  expect(define).toThrow("invariant violated: two statements are named same_name");
});
