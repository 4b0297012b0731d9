/** The median; NaN for an empty list. For an even count, the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const [upper = Number.NaN, lower = Number.NaN] = [sorted[half], sorted[half - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}
