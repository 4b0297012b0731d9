/** Code of Postgres for a statement after a failed one in the same transaction. */
const ABORTED = "25P02";

/**
 * Waits for statements of one transaction that were sent together.
 * @throws the error of the statement that failed first. It aborts the later ones, whose errors may settle
 * earlier and do not show whether the transaction can be retried
 */
export async function awaitTogether<T extends readonly unknown[]>(
  answers: readonly [...{ [Index in keyof T]: Promise<T[Index]> }],
): Promise<T> {
  const results = await Promise.allSettled(answers as readonly Promise<unknown>[]);
  const failed = results.filter((end) => end.status === "rejected");
  const [first] = failed;
  if (first !== undefined) throw (failed.find(({ reason }) => !isAborted(reason)) ?? first).reason;
  return results.map((end) => (end.status === "fulfilled" ? end.value : undefined)) as unknown as T;
}

function isAborted(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === ABORTED;
}
