import pg from "pg";
import type { Leadership } from "../../ports/leadership.ts";

/**
 * Tries to become the one process that does `name`, by a session advisory lock on a connection of its own: when the process dies, so does the lock.
 * It only saves work; every write is guarded by row locks and unique keys, so two leaders for a moment do no harm.
 * @returns undefined when another process leads.
 */
export async function tryLead(connectionString: string, name: string): Promise<Leadership | undefined> {
  const client = new pg.Client({ connectionString, application_name: `leader ${name}`, keepAlive: true });
  const lost = new AbortController();
  client.on("error", () => {
    lost.abort(new Error("the database connection that held the lock is gone"));
  });
  client.on("end", () => {
    lost.abort(new Error("the database connection that held the lock was closed"));
  });
  await client.connect();
  try {
    const result = await client.query<{ led: boolean }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as led",
      [`causeway:${name}`],
    );
    if (result.rows[0]?.led === true) return { lost: lost.signal, release: () => client.end() };
    await client.end();
    return undefined;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
