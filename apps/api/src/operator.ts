// What an operator asks the database: `funds` (money that nobody knows how to place), `trace <requestId>` (the story of a request), `lanes` (payments under way).
import { createPool, sqlOn } from "./adapters/postgres/pool.ts";
import { laneReport, strandedFunds, traceOf } from "./adapters/postgres/operator-reads.ts";
import type { Sql } from "./adapters/postgres/pool.ts";

const USAGE = `usage:
  operator funds              money in the depositories that was not attributed, or cannot be sent back by itself
  operator trace <requestId>  everything that happened to a request, in order
  operator lanes              payments that are not final yet, by chain
DATABASE_URL names the database.
`;

async function answer(
  sql: Sql,
  [command, argument]: readonly string[],
): Promise<readonly object[] | undefined> {
  if (command === "funds") return strandedFunds(sql);
  if (command === "lanes") return laneReport(sql);
  if (command === "trace" && argument !== undefined) return traceOf(sql, argument.toLowerCase());
  return undefined;
}

const databaseUrl = process.env["DATABASE_URL"];
if (databaseUrl === undefined || databaseUrl === "") {
  process.stderr.write("DATABASE_URL is required\n");
  process.exitCode = 1;
} else {
  const pool = createPool(databaseUrl, {
    max: 1,
    statementTimeoutMs: 30_000,
    applicationName: "causeway operator",
  });
  try {
    const rows = await answer(sqlOn(pool), process.argv.slice(2));
    if (rows === undefined) {
      process.stderr.write(USAGE);
      process.exitCode = 2;
    } else {
      // One JSON line a row: made for reading with the eye and with jq alike.
      for (const row of rows)
        process.stdout.write(
          `${JSON.stringify(row, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value))}\n`,
        );
    }
  } finally {
    await pool.end();
  }
}
