/** Milliseconds since 1970 with fractions: one clock for all processes of a machine. */
export function preciseNowMs(): number {
  return performance.timeOrigin + performance.now();
}
