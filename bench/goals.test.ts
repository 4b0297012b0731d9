import { expect, test } from "vitest";
import { judge, type RunFigures } from "./goals.ts";
import type { PhaseFigures } from "./phase.ts";
import type { PairRates } from "./rounds.ts";

function pairOf(ratio: number): PairRates {
  const rates = { perRound: [100], median: 100, busy: 1, cpuUs: 10, bytesPerAnswer: 10 };
  return { ours: rates, bare: rates, ratioPerRound: [ratio], ratio };
}

function phaseOf(figures: { quoteMs?: number; quote?: number; status?: number } = {}): PhaseFigures {
  const p50 = figures.quoteMs ?? 1;
  const single = { count: 1, p50, p90: p50, p99: p50, max: p50 };
  return {
    storedRequests: 10,
    singleMs: { ours: single, bare: single },
    quote: pairOf(figures.quote ?? 0.4),
    status: pairOf(figures.status ?? 0.8),
  };
}

function runOf(before: PhaseFigures, after?: PhaseFigures, callsPerQuote = 0): RunFigures {
  const chainCost = { quotes: 1, calls: 0, httpRequests: 0, callsPerQuote, idleCallsPerSecond: 0 };
  return { before, after, chainCost };
}

const missed = (run: RunFigures): string[] =>
  judge(run).flatMap(({ goal, passed }) => (passed ? [] : [goal.split(/[,:]/, 1)[0] ?? ""]));

test("a run that meets every goal passes, even one that gets faster with more rows", () => {
  expect(missed(runOf(phaseOf(), phaseOf({ quote: 0.9, status: 0.95 })))).toEqual([]);
  expect(judge(runOf(phaseOf()))).toHaveLength(4);
});

test.for([
  [runOf(phaseOf({ quoteMs: 5.1 })), "quote"],
  [runOf(phaseOf({ quote: 0.14 })), "quote under load"],
  [runOf(phaseOf({ status: 0.39 })), "status under load"],
  [runOf(phaseOf(), phaseOf({ quote: 0.35 })), "quote ratio with many stored requests"],
  [runOf(phaseOf(), phaseOf({ status: 0.7 })), "status ratio with many stored requests"],
  [runOf(phaseOf(), undefined, 0.06), "chain calls per quote"],
] as const)("names a missed goal: %#", ([run, goal]) => {
  expect(missed(run)).toEqual([goal]);
});

test("a goal that could not be measured counts as missed", () => {
  expect(missed(runOf(phaseOf({ quote: Number.NaN })))).toEqual(["quote under load"]);
});
