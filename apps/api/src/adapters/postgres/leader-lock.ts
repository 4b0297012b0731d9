import pg from "pg";
import type { Leadership } from "../../ports/leadership.ts";

/**
 * Waits until this process is the one that does `name`, by a session advisory lock on a connection of its own: when the process that leads dies, so does its connection,
 * and the next in line is woken at once.
 * @returns undefined when `stop` aborted the wait.
 * @throws when the database cannot be reached.
 */
export async function lead(
  connectionString: string,
  name: string,
  stop: AbortSignal,
): Promise<Leadership | undefined> {
  const client = new pg.Client({
    connectionString,
    application_name: `causeway leads ${name}`,
    keepAlive: true,
  });
  const lost = new AbortController();
  client.on("error", () => {
    lost.abort(new Error("the database connection that held the lock is gone"));
  });
  client.on("end", () => {
    lost.abort(new Error("the database connection that held the lock was closed"));
  });
  // A wait for the lock ends only with its connection.
  const onStop = (): void => void client.end().catch(() => undefined);
  await client.connect();
  if (stop.aborted) {
    await client.end();
    return undefined;
  }
  stop.addEventListener("abort", onStop, { once: true });
  try {
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [`causeway:${name}`]);
    return { lost: lost.signal, release: () => client.end() };
  } catch (error) {
    await client.end().catch(() => undefined);
    if (stop.aborted) return undefined;
    throw error;
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}
