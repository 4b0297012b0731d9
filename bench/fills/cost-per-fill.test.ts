import { expect, test } from "vitest";
import { costPerFill, costPerSecond, counters, meanCost, type Cost, type Readings } from "./cost-per-fill.ts";

const readings = (totals: Partial<Cost>, atMs: number): Readings =>
  Object.fromEntries(
    counters.map((counter) => [counter, { atMs, total: totals[counter] ?? 0 }]),
  ) as unknown as Readings;

test("subtracts what the idle system would have used in the same time", () => {
  const idle = costPerSecond(readings({ workerMs: 1_000 }, 0), readings({ workerMs: 1_200 }, 10_000));
  expect(idle.workerMs).toBe(20);
  const before = readings({ workerMs: 2_000, commits: 100 }, 20_000);
  const after = readings({ workerMs: 3_100, commits: 150 }, 25_000);
  const cost = costPerFill(before, after, idle, 50);
  // 1,100 ms in 5 s, 100 ms of them idle.
  expect(cost.workerMs).toBe(20);
  expect(cost.commits).toBe(1);
  expect(cost.statements).toBe(0);
});

test("each counter has its own time", () => {
  const idle = { ...costPerSecond(readings({}, 0), readings({}, 1_000)), workerMs: 10, commits: 10 };
  const before = readings({}, 0);
  const processes = readings({ workerMs: 100 }, 1_000);
  const after = { ...processes, commits: { atMs: 12_000, total: 220 } };
  const cost = costPerFill(before, after, idle, 10);
  expect([cost.workerMs, cost.commits]).toEqual([9, 10]);
});

test("a counter that could not be read makes only its own figure NaN", () => {
  const before = readings({ postgresMs: Number.NaN, workerMs: 1 }, 0);
  const idle = costPerSecond(readings({}, 0), readings({}, 1_000));
  const cost = costPerFill(before, readings({ postgresMs: 5, workerMs: 5 }, 1_000), idle, 2);
  expect([cost.postgresMs, cost.workerMs]).toEqual([Number.NaN, 2]);
});

test("averages two costs", () => {
  const perSecond = (rpcCalls: number): Cost => costPerSecond(readings({}, 0), readings({ rpcCalls }, 1_000));
  expect(meanCost(perSecond(4), perSecond(8)).rpcCalls).toBe(6);
});
