import { expect, test } from "vitest";
import { costPerSecond, counters, type Readings } from "./cost-per-fill.ts";
import { fillLines, judgeFills } from "./judge-fills.ts";
import type { FillFigures, PhaseFigures } from "./measure-fills.ts";

const readings = (atMs: number): Readings =>
  Object.fromEntries(counters.map((counter) => [counter, { atMs, total: atMs }])) as unknown as Readings;
const cost = costPerSecond(readings(0), readings(1_000));

const phase = (count: number, p50: number, p99: number, allWithinSeconds = 1): PhaseFigures => ({
  speed: {
    toBroadcastMs: { count, p50, p90: p99, p99, max: p99 },
    allWithinSeconds,
    fillsPerSecond: count / allWithinSeconds,
  },
  costPerFill: cost,
});

function figuresOf(overrides: {
  burst?: PhaseFigures;
  alone?: PhaseFigures;
  steady?: PhaseFigures;
}): FillFigures {
  return {
    burst: overrides.burst ?? phase(500, 3_000, 5_000, 5),
    alone: overrides.alone ?? phase(100, 25, 100),
    steady: { ...(overrides.steady ?? phase(600, 60, 300)), perSecond: 20 },
    idle: { before: cost, after: cost },
    loadBefore: 0,
  };
}

const missed = (figures: FillFigures): string[] =>
  judgeFills(figures).flatMap(({ goal, passed }) => (passed ? [] : [goal]));

test("figures at the limits pass", () => {
  expect(missed(figuresOf({}))).toEqual([]);
});

test.for([
  [{ burst: phase(500, 1, 1, 5.1) }, "500 deposits of one block, last fill broadcast: at most 5 s"],
  [{ burst: phase(150, 1, 1, 1.6) }, "150 deposits of one block, last fill broadcast: at most 1.5 s"],
  [{ alone: phase(100, 26, 100) }, "one deposit at a time, block seen to broadcast, median: at most 25 ms"],
  [{ alone: phase(100, 25, 101) }, "one deposit at a time, block seen to broadcast, p99: at most 100 ms"],
  [{ steady: phase(600, 61, 300) }, "20 deposits per second, block seen to broadcast, median: at most 60 ms"],
  [{ steady: phase(600, 60, 301) }, "20 deposits per second, block seen to broadcast, p99: at most 300 ms"],
] as const)("names a missed goal: %#", ([overrides, goal]) => {
  expect(missed(figuresOf(overrides))).toEqual([goal]);
});

test("the columns of the costs line up with their header", () => {
  const lines = fillLines(figuresOf({}));
  const header = lines.findIndex((line) => line.includes("RPC requests"));
  const widths = lines.slice(header, header + 6).map((line) => line.length);
  expect(new Set(widths).size).toBe(1);
});
