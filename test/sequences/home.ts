import { databaseUrl } from "@causeway/testkit";
import { createPool } from "../../apps/api/src/db/pool.postgres.ts";
import { onServer } from "../support/template-database.ts";
import type { SequenceNodes } from "./sequence-chain.ts";
import type { SequenceHome } from "./world.ts";

const EMPTIED_PER_VACUUM = 20;

/**
 * A database and two chains that one process uses for all its sequences. `close` drops the database and stops
 * the chains.
 */
export async function openHome(
  serverUrl: string,
  template: string,
  name: string,
  nodes: SequenceNodes,
): Promise<SequenceHome & { close(): Promise<void> }> {
  await onServer(
    serverUrl,
    `create database ${name} template ${template}`,
    ...["jit = off", "synchronous_commit = off"].map((setting) => `alter database ${name} set ${setting}`),
  );
  const pool = createPool(databaseUrl(serverUrl, name), {
    max: 6,
    statementTimeoutMs: 20_000,
    applicationName: "sequences",
  });
  const { rows } = await pool.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename !~ 'migration'",
  );
  // Triggers protect ledger rows. For tables of a few rows, deleting is faster than truncating.
  await pool.query(`create function empty_all() returns void language plpgsql as $$
    begin
      set local session_replication_role = replica;
      ${rows.map((row) => `delete from ${row.name};`).join("\n      ")}
    end $$`);
  let emptied = 0;
  return {
    pool,
    nodes,
    async empty() {
      await pool.query("select empty_all()");
      // Otherwise every query reads past the deleted rows of all earlier sequences.
      if (++emptied % EMPTIED_PER_VACUUM === 0)
        await pool.query(`vacuum ${rows.map((row) => row.name).join(", ")}`);
    },
    close: async () => {
      await nodes.close();
      await pool.end();
      await onServer(serverUrl, `drop database ${name} with (force)`);
    },
  };
}
