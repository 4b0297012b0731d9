import { judgeMax, type Verdict } from "../goals.ts";
import type { FilterFigures } from "./measure-history.ts";

const P95_MS = 50;

/** Past requests, one filter at a time. */
export interface HistoryFigures {
  readonly stored: number;
  readonly filters: readonly FilterFigures[];
}

/** Judges by the slowest filter. */
export function judgeHistory({ stored, filters }: HistoryFigures): Verdict[] {
  const slowest = filters.toSorted((a, b) => b.p95Ms - a.p95Ms)[0];
  return [
    judgeMax(
      `GET /requests/v3, one filter alone, p95 of the slowest (${slowest?.name ?? "none"}), ${stored.toLocaleString("en")} stored`,
      slowest?.p95Ms ?? Number.NaN,
      P95_MS,
      " ms",
    ),
  ];
}

/** One line per query. */
export function historyLines({ stored, filters }: HistoryFigures): string[] {
  const ms = (value: number): string => value.toFixed(1).padStart(8);
  return [
    `Past requests, ${stored.toLocaleString("en")} stored`,
    `${"one filter alone, ms".padEnd(32)}${"median".padStart(8)}${"p95".padStart(8)}${"max".padStart(8)}${"rows".padStart(6)}`,
    ...filters.map(
      ({ name, p50Ms, p95Ms, maxMs, rows }) =>
        `${name.padEnd(32)}${ms(p50Ms)}${ms(p95Ms)}${ms(maxMs)}${String(rows).padStart(6)}`,
    ),
  ];
}
