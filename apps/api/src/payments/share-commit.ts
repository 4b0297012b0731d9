/**
 * Runs one commit for all items. If it fails, runs one for each, so that one item cannot fail the others.
 * @returns the errors of those that failed alone
 */
export async function shareCommit<T>(
  items: readonly T[],
  commit: (items: readonly T[]) => Promise<void>,
): Promise<ReadonlyMap<T, Error>> {
  const errors = new Map<T, Error>();
  if (items.length === 0) return errors;
  try {
    await commit(items);
  } catch (error) {
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return errors.set(only, asError(error));
    /** Of the last items, as long as each failed. */
    let failed: readonly Error[] = [];
    for (const item of items) {
      const [, common] = failed;
      // Not the fault of one item: the caller's next round continues.
      const alone = common ?? (await shareCommit([item], commit)).get(item);
      if (alone !== undefined) errors.set(item, alone);
      failed = alone === undefined ? [] : [...failed, alone];
    }
  }
  return errors;
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
