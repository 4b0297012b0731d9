import type pg from "pg";

// Named: sent in one piece with what follows, or what precedes.
const BEGIN = { name: "begin", text: "begin" };
const COMMIT = { name: "commit", text: "commit" };

/**
 * Runs `work` on one connection between begin and commit; any error rolls back. A connection that cannot roll
 * back is discarded.
 * @param work may leave the answer of a statement to the end with `atEnd`, instead of waiting for it
 * @throws the error of the first statement that failed, also if `work` met only the errors of later ones
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, atEnd: (answer: Promise<unknown>) => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const answers: Promise<void>[] = [];
  let failed: { readonly error: unknown } | undefined;
  const atEnd = (answer: Promise<unknown>): void => {
    const settled = answer.then(
      () => undefined,
      (error: unknown) => {
        failed ??= { error };
      },
    );
    answers.push(settled);
  };
  try {
    atEnd(client.query(BEGIN));
    const result = await work(client, atEnd);
    // Sent with the last writes. If a statement failed, Postgres answers with ROLLBACK, not with an error.
    const ended = client.query(COMMIT);
    ended.catch(() => undefined);
    await Promise.all(answers);
    if (failed !== undefined) throw failed.error;
    const { command } = await ended;
    if (command !== "COMMIT")
      throw new Error("invariant violated: a transaction continued after a failed statement");
    return result;
  } catch (error) {
    await client.query("rollback").catch((fault: unknown) => {
      // The connection and its transaction are lost: the pool must not reuse it.
      broken = fault instanceof Error ? fault : new Error(String(fault));
    });
    // Answers come in order: all former ones are known now.
    await Promise.all(answers);
    throw failed === undefined ? error : failed.error;
  } finally {
    client.release(broken);
  }
}
