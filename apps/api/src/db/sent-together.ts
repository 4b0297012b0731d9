/** Code of Postgres for a statement after a failed one in the same transaction. */
const ABORTED = "25P02";

/**
 * Waits for statements of one transaction that were sent together.
 * @throws the error of the one that failed first: it makes the later ones fail too, whose errors may settle
 * before it and do not show whether the transaction can run again
 */
export async function sentTogether<T extends readonly unknown[]>(
  answers: readonly [...{ [Index in keyof T]: Promise<T[Index]> }],
): Promise<T> {
  const ends = await Promise.allSettled(answers as readonly Promise<unknown>[]);
  const failed = ends.filter((end) => end.status === "rejected");
  const [first] = failed;
  if (first !== undefined) throw (failed.find(({ reason }) => !isAborted(reason)) ?? first).reason;
  return ends.map((end) => (end.status === "fulfilled" ? end.value : undefined)) as unknown as T;
}

function isAborted(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === ABORTED;
}
