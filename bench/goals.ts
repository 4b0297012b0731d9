import type { ChainCost, PhaseFigures } from "./phase.ts";

/** All figures of a run; `after` is missing when no rows were added. */
export interface RunFigures {
  readonly before: PhaseFigures;
  readonly after: PhaseFigures | undefined;
  readonly chainCost: ChainCost;
}

export interface Verdict {
  readonly goal: string;
  readonly measured: string;
  readonly passed: boolean;
}

const QUOTE_MEDIAN_MS = 5;
const QUOTE_RATIO = 0.15;
const STATUS_RATIO = 0.4;
const MAX_DECREASE = 0.1;
const CALLS_PER_QUOTE = 0.05;

/** Judges a run. A figure that could not be measured (NaN) misses its goal. */
export function judge({ before, after, chainCost }: RunFigures): Verdict[] {
  const phases = after === undefined ? [before] : [before, after];
  return [
    ...phases.flatMap(({ singleMs, quote, status, storedRequests }) => {
      const stored = `${storedRequests.toLocaleString("en")} stored`;
      return [
        judgeMax(`quote, one at a time, median, ${stored}`, singleMs.ours.p50, QUOTE_MEDIAN_MS, " ms"),
        judgeMin(`quote under load, relative to a bare POST, ${stored}`, quote.ratio, QUOTE_RATIO),
        judgeMin(`status under load, relative to a bare GET, ${stored}`, status.ratio, STATUS_RATIO),
      ];
    }),
    ...(after === undefined
      ? []
      : [
          judgeDecrease("quote ratio with many stored requests", before.quote.ratio, after.quote.ratio),
          judgeDecrease("status ratio with many stored requests", before.status.ratio, after.status.ratio),
        ]),
    judgeMax("chain calls per quote", chainCost.callsPerQuote, CALLS_PER_QUOTE, ""),
  ];
}

/** A goal that a figure must not exceed. */
export function judgeMax(what: string, value: number, max: number, unit: string): Verdict {
  return { goal: `${what}: at most ${max}${unit}`, measured: text(value) + unit, passed: value <= max };
}

/** A goal that a figure must reach. */
export function judgeMin(what: string, value: number, min: number): Verdict {
  return { goal: `${what}: at least ${min}`, measured: text(value), passed: value >= min };
}

/** A goal whose figure may decrease by at most {@link MAX_DECREASE}; an increase passes. */
function judgeDecrease(what: string, before: number, after: number): Verdict {
  const change = after / before - 1;
  return {
    goal: `${what}: decreases by at most ${MAX_DECREASE * 100} %`,
    measured: `${change >= 0 ? "+" : ""}${(change * 100).toFixed(1)} %`,
    passed: change >= -MAX_DECREASE,
  };
}

function text(value: number): string {
  return value.toFixed(value < 0.1 ? 4 : value < 10 ? 2 : 0);
}
