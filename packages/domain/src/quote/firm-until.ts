/** How long a quote is firm if `QUOTE_FIRM_SECONDS` is not set. */
export const DEFAULT_FIRM_SECONDS = 60;

/**
 * Until when a quote is firm: for `firmSeconds`, but not after the last moment at which it can be paid. Both
 * times in ms since epoch.
 */
export function firmUntil(nowMs: number, firmSeconds: number, payByMs: number): number {
  return Math.min(nowMs + firmSeconds * 1000, payByMs);
}

/** Whether the quoted output is guaranteed at this time (ms since epoch) although prices move. */
export function isFirmAt({ firmUntilMs }: { readonly firmUntilMs: number }, atMs: number): boolean {
  return atMs <= firmUntilMs;
}
