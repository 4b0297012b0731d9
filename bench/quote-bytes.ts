// The disk space of stored quotes: `DATABASE_URL=... node -C source bench/quote-bytes.ts`.
import { databaseUrl } from "@causeway/testkit";
import { encodeOrderCall } from "@causeway/domain";
import type { OrderCall } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { createPool, sqlOn } from "../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { migrate } from "../apps/api/src/migrate.ts";
import { onServer } from "../test/support/template-database.ts";
import { someTerms } from "../test/support/terms.ts";

const QUOTES = 500;

const server = process.env["DATABASE_URL"];
if (server === undefined) {
  process.stderr.write("usage: DATABASE_URL=postgresql://... node -C source bench/quote-bytes.ts\n");
  process.exit(2);
}
for (const bytes of [0, 4_096, 32_768]) {
  const name = `causeway_bytes_bench_${process.pid}`;
  await onServer(server, `create database ${name}`);
  try {
    const perQuote = await storedBytes(databaseUrl(server, name), bytes);
    process.stdout.write(
      `${bytes} bytes of calls: ${perQuote.toFixed(0)} bytes on disk a quote, indexes included\n`,
    );
  } finally {
    await onServer(server, `drop database ${name} with (force)`);
  }
}

/** Calls with random data, which does not compress: an attacker would send them to fill the disk. */
async function storedBytes(url: string, bytes: number): Promise<number> {
  await migrate(url);
  const pool = createPool(url, { max: 2, statementTimeoutMs: 60_000, applicationName: "bench" });
  try {
    const insert = groupedQuoteInserts(sqlOn(pool));
    for (let n = 0; n < QUOTES; n++) {
      const plain = someTerms();
      const call: OrderCall = {
        to: `0x${"00".repeat(19)}04`,
        data: `0x${randomBytes(bytes).toString("hex")}`,
        value: 0n,
      };
      const { order } = plain;
      await insert(
        bytes === 0
          ? plain
          : {
              ...plain,
              outputCalls: { calls: [call], gas: 100_000n, left: { expected: 0n, minimum: 0n } },
              order: { ...order, output: { ...order.output, calls: [encodeOrderCall(call)] } },
            },
      );
    }
    await pool.query("vacuum full requests");
    const { rows } = await pool.query<{ size: number }>("select pg_total_relation_size('requests') as size");
    return (rows[0]?.size ?? Number.NaN) / QUOTES;
  } finally {
    await pool.end();
  }
}
