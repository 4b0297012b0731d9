import type pg from "pg";

/**
 * Runs `work` on one connection between begin and commit; any error rolls back. A connection that cannot roll
 * back is discarded.
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
      // The connection and its transaction are lost: the pool must not reuse it.
      broken = fault instanceof Error ? fault : new Error(String(fault));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
