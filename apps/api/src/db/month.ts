import type { Month } from "./month.port.ts";

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export function isMonth(text: string): text is Month {
  return MONTH.test(text);
}

/** A month that the database wrote. */
export function toMonth(text: string): Month {
  if (!isMonth(text)) throw new Error(`invariant violated: ${text} is not a month`);
  return text;
}

/** The month that contains `ms`, milliseconds since 1970. */
export function monthOf(ms: number): Month {
  return toMonth(new Date(ms).toISOString().slice(0, 7));
}

/** The month `count` months later. */
export function monthAfter(month: Month, count = 1): Month {
  const [year = 0, ordinal = 0] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, ordinal - 1 + count));
}

/** First millisecond of the month. */
export function startOfMonth(month: Month): number {
  return Date.parse(`${month}-01T00:00:00Z`);
}

/** First millisecond after the month. */
export function endOfMonth(month: Month): number {
  return startOfMonth(monthAfter(month));
}
