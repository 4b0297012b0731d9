/** The values that occur more than once, without duplicates. */
export function duplicatesIn(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
