/** Nearest-rank percentiles of some durations, ms. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Undefined if nothing was measured: a zero would look fast. */
export function percentilesOf(values: readonly number[]): Percentiles | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const max = sorted.at(-1);
  if (max === undefined) return undefined;
  const percentile = (percent: number): number =>
    sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? max;
  return { count: sorted.length, p50: percentile(50), p90: percentile(90), p99: percentile(99), max };
}

/** One line of text. */
export function percentileLine(name: string, values: readonly number[]): string {
  const percentiles = percentilesOf(values);
  if (percentiles === undefined) return `${name.padEnd(46)} no measurements`;
  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0).padStart(7);
  const { count, p50, p90, p99, max } = percentiles;
  return `${name.padEnd(46)} p50 ${ms(p50)}  p90 ${ms(p90)}  p99 ${ms(p99)}  max ${ms(max)} ms  (${count})`;
}
