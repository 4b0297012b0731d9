import { databaseUrl, newTempDir, startPostgres } from "@causeway/testkit";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../../apps/api/src/migrate.ts";
import { startTcpSwitch } from "./tcp-switch.ts";

/** A primary with an asynchronous streaming standby, both behind one address. */
export interface PostgresPair {
  /** The URL of a migrated database at the common address. */
  readonly url: string;
  /** The URL of the same database on the first primary. It stays the same after a failover. */
  readonly formerUrl: string;
  /** The URL of the same database on the standby, also after its promotion. */
  readonly standbyUrl: string;
  /** Waits until the standby has all commits of the primary. */
  catchUp(): Promise<void>;
  /** Disconnects the standby: a failover loses all later commits of the primary. */
  cut(): void;
  /** Promotes the standby and moves the common address to it. The former primary keeps running. */
  failOver(): Promise<void>;
  drop(): Promise<void>;
}

const DATABASE = "causeway";

export async function startPostgresPair(): Promise<PostgresPair> {
  const settings = ["wal_keep_size=512MB", "shared_buffers=32MB"];
  const options = { durable: false, removeDataAtStop: true, settings } as const;
  const primary = await startPostgres({ ...options, dataDir: newTempDir("primary") });
  const stream = await startTcpSwitch(primary.port);
  const standby = await startPostgres({
    ...options,
    dataDir: newTempDir("standby"),
    standbyOf: { port: stream.port },
  });
  const address = await startTcpSwitch(primary.port);
  await ask(primary.url, `create database ${DATABASE}`);
  const formerUrl = databaseUrl(primary.url, DATABASE);
  await migrate(formerUrl);
  const url = `postgres://postgres@127.0.0.1:${address.port}/${DATABASE}`;
  return {
    url,
    formerUrl,
    standbyUrl: databaseUrl(standby.url, DATABASE),
    async catchUp() {
      const written = await ask(primary.url, "select pg_current_wal_insert_lsn() as answer");
      const hasCaughtUp = `select pg_last_wal_replay_lsn() >= '${String(written)}' as answer`;
      for (const endsAtMs = performance.now() + 20_000; (await ask(standby.url, hasCaughtUp)) !== true;) {
        if (performance.now() > endsAtMs) throw new Error("the standby did not catch up in time");
        await sleep(20);
      }
    },
    cut: () => stream.route(undefined),
    async failOver() {
      stream.route(undefined);
      await ask(standby.url, "select pg_promote() as answer");
      address.route(standby.port);
    },
    async drop() {
      await Promise.all([address.close(), stream.close(), standby.stop(), primary.stop()]);
    },
  };
}

async function ask(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ answer: unknown }>(statement)).rows[0]?.answer;
  } finally {
    await client.end();
  }
}
