import type pg from "pg";

/**
 * Runs `work` on one connection between begin and commit; whatever it throws rolls back. A connection that
 * cannot even do that is thrown away.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    const result = await work(client);
    // If a statement failed, Postgres answers the commit with ROLLBACK, not with an error.

    const { command } = await client.query("commit");
    if (command !== "COMMIT")
      throw new Error("invariant violated: a transaction continued after a failed statement");
    return result;
  } catch (error) {
    await client.query("rollback").catch((fault: unknown) => {
      // The connection is gone, and the transaction with it: the pool must not hand it out again.
      broken = fault instanceof Error ? fault : new Error(String(fault));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
