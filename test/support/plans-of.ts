import type pg from "pg";
import { sqlOn, type Sql } from "../../apps/api/src/db/pool.postgres.ts";

/** Postgres's plans for the statements that `run` makes. The statements return no rows. */
export async function plansOf(pool: pg.Pool, run: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  const explaining: pg.Pool = Object.create(pool, {
    query: {
      value: async (
        { text, values: queryValues }: pg.QueryConfig,
        values: unknown[] | undefined = queryValues,
      ) => {
        const { rows } = await pool.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return { rows: [] };
      },
    },
  });
  await run(sqlOn(explaining));
  return plans;
}
