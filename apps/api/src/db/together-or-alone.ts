/**
 * Does something for all items at once, such as one commit or one read. If that fails, does it for each
 * alone, so that one item cannot fail the others.
 * @returns the errors of those that failed alone
 */
export async function togetherOrAlone<T>(
  items: readonly T[],
  act: (items: readonly T[]) => Promise<void>,
): Promise<ReadonlyMap<T, Error>> {
  const errors = new Map<T, Error>();
  if (items.length === 0) return errors;
  try {
    await act(items);
  } catch (error) {
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return errors.set(only, asError(error));
    /** Of the last items, as long as each failed. */
    let failed: readonly Error[] = [];
    for (const item of items) {
      const [, common] = failed;
      // Not the fault of one item: the caller tries again later.
      const alone = common ?? (await togetherOrAlone([item], act)).get(item);
      if (alone !== undefined) errors.set(item, alone);
      failed = alone === undefined ? [] : [...failed, alone];
    }
  }
  return errors;
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
