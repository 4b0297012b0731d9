const MS_PER_DAY = 86_400_000;

/** UTC day of a moment, counted from 1970. */
export function utcDay(ms: number): number {
  return Math.floor(ms / MS_PER_DAY);
}
