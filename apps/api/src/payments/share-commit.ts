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
    for (const item of items)
      for (const [, alone] of await shareCommit([item], commit)) errors.set(item, alone);
  }
  return errors;
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
