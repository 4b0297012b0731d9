import { judgeMax, type Verdict } from "../goals.ts";
import type { Cost, Counter } from "./cost-per-fill.ts";
import type { FillFigures, PhaseFigures } from "./measure-fills.ts";

/** For 500 deposits; scaled for other numbers, so that a quick run is not judged more leniently. */
const BURST_SECONDS = 5;
const BURST_FILLS = 500;
const ALONE_MS = { p50: 25, p99: 100 };
const STEADY_MS = { p50: 60, p99: 300 };

export function judgeFills({ burst, alone, steady }: FillFigures): Verdict[] {
  const { count } = burst.speed.toBroadcastMs;
  return [
    judgeMax(
      `${count} deposits of one block, last fill broadcast`,
      burst.speed.allWithinSeconds,
      (BURST_SECONDS * count) / BURST_FILLS,
      " s",
    ),
    ...latencies("one deposit at a time", alone, ALONE_MS),
    ...latencies(`${steady.perSecond} deposits per second`, steady, STEADY_MS),
  ];
}

function latencies(
  name: string,
  { speed: { toBroadcastMs } }: PhaseFigures,
  maxMs: { readonly p50: number; readonly p99: number },
): Verdict[] {
  const what = `${name}, block seen to broadcast`;
  return [
    judgeMax(`${what}, median`, toBroadcastMs.p50, maxMs.p50, " ms"),
    judgeMax(`${what}, p99`, toBroadcastMs.p99, maxMs.p99, " ms"),
  ];
}

/** The figures as table lines. */
export function fillLines({ burst, alone, steady, idle, loadBefore }: FillFigures): string[] {
  const names = {
    burst: `${burst.speed.toBroadcastMs.count} of one block`,
    alone: "one at a time",
    steady: `${steady.perSecond} per second`,
  };
  return [
    "Fills on one lane, block seen to broadcast, with a block every second and all processes on the same cores " +
      `(load average before: ${loadBefore.toFixed(2)})`,
    speedLine(names.burst, burst),
    speedLine(names.alone, alone),
    speedLine(names.steady, steady),
    "Per fill, from deposit to final, without what the idle system uses",
    costHeader,
    costLine(names.burst, burst.costPerFill),
    costLine(names.alone, alone.costPerFill),
    costLine(names.steady, steady.costPerFill),
    costLine("idle before, per second", idle.before),
    costLine("idle after, per second", idle.after),
    "  CPU: /proc; Postgres with all its backends; the bench sends deposits and counts RPC calls in a proxy before",
    "  each node, where a batch is one request and as many calls as it has members. Commits: pg_stat_database.",
    "  Statements: pg_stat_statements, with begin and commit.",
  ];
}

function speedLine(name: string, { speed }: PhaseFigures): string {
  const { p50, p90, p99, max, count } = speed.toBroadcastMs;
  const ms = (value: number): string => value.toFixed(0).padStart(6);
  return (
    `  ${name.padEnd(26)} median ${ms(p50)}   p90 ${ms(p90)}   p99 ${ms(p99)}   max ${ms(max)} ms   (${count})   ` +
    `${speed.fillsPerSecond.toFixed(1)} fills/s, all within ${speed.allWithinSeconds.toFixed(2)} s`
  );
}

const columns: Readonly<Record<Counter, string>> = {
  workerMs: "worker ms",
  apiMs: "API ms",
  postgresMs: "Postgres ms",
  benchMs: "bench ms",
  commits: "commits",
  statements: "statements",
  rpcCalls: "RPC calls",
  rpcRequests: "RPC requests",
};
const order = Object.keys(columns) as Counter[];
const costHeader = `  ${"".padEnd(26)} ${order.map((counter) => columns[counter].padStart(12)).join(" ")}`;

function costLine(name: string, cost: Cost): string {
  return `  ${name.padEnd(26)} ${order.map((counter) => cost[counter].toFixed(2).padStart(12)).join(" ")}`;
}
