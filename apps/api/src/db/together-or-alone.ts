/**
 * Runs `act` for all items at once, such as in one commit or one read. If that fails, runs it for each item
 * alone, so that one item cannot fail the others.
 * @returns the errors of the items that failed alone
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
    /** The errors of the last items in a row that failed. */
    let failed: readonly Error[] = [];
    for (const item of items) {
      const [, common] = failed;
      // After two failures in a row, all other items get the second error: no single item is the cause.
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
