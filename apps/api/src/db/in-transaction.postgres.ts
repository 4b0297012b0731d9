import type pg from "pg";

/** Code of Postgres for a statement after a failed one in the same transaction. */
const ABORTED = "25P02";

/**
 * Runs `work` on one connection between begin and commit; any error rolls back. A connection that cannot roll
 * back is discarded.
 * @param work may leave the answer of a statement to the end with `atEnd`, instead of waiting for it. The
 * commit is sent after the last of these answers, and only if none of them is an error.
 * @throws the error of the first statement that failed, also if `work` met only the errors of later ones
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, atEnd: (answer: Promise<unknown>) => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const answers: Promise<void>[] = [];
  let failed: { readonly index: number; readonly error: unknown } | undefined;
  let hasEnded = false;
  const atEnd = (answer: Promise<unknown>): void => {
    const index = answers.length;
    const settled = answer.then(
      () => undefined,
      (error: unknown) => {
        // Errors that come together may settle in another order than they were sent.
        if (failed === undefined || index < failed.index) failed = { index, error };
      },
    );
    if (hasEnded) throw new Error("invariant violated: a write after the end of its transaction");
    answers.push(settled);
  };
  try {
    // Awaited alone: if `begin` were canceled, statements sent along with it would each commit on their own.
    await client.query("begin");
    const result = await work(client, atEnd);
    hasEnded = true;
    await Promise.all(answers);
    if (failed !== undefined) throw failed.error;
    // If a statement failed, Postgres answers the commit with ROLLBACK, not with an error.
    const { command } = await client.query("commit");
    if (command !== "COMMIT")
      throw new Error("invariant violated: a transaction continued after a failed statement");
    return result;
  } catch (error) {
    hasEnded = true;
    // Before the rollback: a write of several statements must not send its last ones after it.
    await Promise.all(answers);
    await client.query("rollback").catch((fault: unknown) => {
      // The connection and its transaction are lost: the pool must not reuse it.
      broken = fault instanceof Error ? fault : new Error(String(fault));
    });
    throw rootError(error, failed?.error);
  } finally {
    client.release(broken);
  }
}

/** The error of whichever failed first, an awaited statement or a write: it aborted the other. */
function rootError(awaited: unknown, written: unknown): unknown {
  if (written === undefined || codeOf(written) === ABORTED) return awaited;
  return written;
}

/** The code that Postgres gave an error (SQLSTATE), if it did. */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
