import { writeFile } from "node:fs/promises";
import { maxInFlight } from "./fills.ts";
import type { Mode } from "./options.ts";
import { percentileLine, percentilesOf } from "./percentiles.ts";
import type { RequestRun } from "./run-request.ts";
import type { Verdict } from "./verify.ts";

export const toBroadcastName = "deposit block seen -> fill broadcast";

/** Durations of a run in ms, by measure. */
export function measuresOf(runs: readonly RequestRun[], verdict: Verdict): Map<string, number[]> {
  const toBroadcast = verdict.timings.map((timing) => ({
    ...timing,
    tookMs: timing.firstBroadcastAtMs - timing.seenAtMs,
  }));
  return new Map([
    ["quote, client latency", runs.flatMap(({ quoteMs }) => quoteMs ?? [])],
    [
      "deposit mined -> success, seen by the client",
      runs.flatMap(({ payment, finalStatusAtMs, last }) =>
        payment?.firstMinedAtMs === undefined || finalStatusAtMs === undefined || last?.status !== "success"
          ? []
          : [Math.max(finalStatusAtMs - payment.firstMinedAtMs, 0)],
      ),
    ],
    [
      toBroadcastName,
      toBroadcast.filter(({ confirmations }) => confirmations === 0).map(({ tookMs }) => tookMs),
    ],
    [
      "  the same, with more confirmations",
      toBroadcast.filter(({ confirmations }) => confirmations > 0).map(({ tookMs }) => tookMs),
    ],
  ]);
}

/** By chain: the maximum number of its lane's fills that were broadcast but not mined. */
export function busiestLanes(verdict: Verdict): Map<number, number> {
  const minedAtMs = new Map(
    verdict.payments.map(({ transaction }) => [
      `${transaction.chainId} ${transaction.nonce}`,
      Number(transaction.timestampSeconds) * 1000,
    ]),
  );
  const spans = verdict.timings.map(({ chainId, nonce, firstBroadcastAtMs }) => ({
    chainId,
    fromMs: firstBroadcastAtMs,
    toMs: Math.max(minedAtMs.get(`${chainId} ${nonce}`) ?? 0, firstBroadcastAtMs),
  }));
  const byChain = Map.groupBy(spans, ({ chainId }) => chainId);
  return new Map([...byChain].map(([chainId, list]) => [chainId, maxInFlight(list)]));
}

/** The limits of this mode that the run exceeded. */
export function exceededLimits(
  mode: Mode,
  requests: number,
  measures: ReadonlyMap<string, readonly number[]>,
  busiest: ReadonlyMap<number, number>,
): string[] {
  if (mode === "load" || mode === "families" || mode === "takeovers") return [];
  if (mode === "lane") {
    const busiestLane = Math.max(0, ...busiest.values());
    return busiestLane < requests ? [`only ${busiestLane} of ${requests} fills were in flight at once`] : [];
  }
  const percentiles = percentilesOf(measures.get(toBroadcastName) ?? []);
  if (percentiles === undefined) return ["no fill was measured"];
  return [
    ...(percentiles.p50 > FILL_BOUNDS_MS.p50
      ? [`median time to broadcast exceeds ${FILL_BOUNDS_MS.p50} ms`]
      : []),
    ...(percentiles.p99 > FILL_BOUNDS_MS.p99
      ? [`p99 time to broadcast exceeds ${FILL_BOUNDS_MS.p99} ms`]
      : []),
  ];
}

/** Bounds for one fill at a time. */
const FILL_BOUNDS_MS = { p50: 50, p99: 250 };

export interface SoakResult {
  readonly seed: number;
  readonly requests: number;
  readonly succeeded: number;
  readonly measures: ReadonlyMap<string, readonly number[]>;
  readonly remarks: readonly string[];
  readonly problems: readonly string[];
}

const SHOWN_PROBLEMS = 60;

export function printResult(result: SoakResult, print: (line: string) => void): void {
  print("");
  for (const [name, values] of result.measures) print(percentileLine(name, values));
  for (const remark of result.remarks) print(`- ${remark}`);
  print("");
  for (const problem of result.problems.slice(0, SHOWN_PROBLEMS)) print(`PROBLEM: ${problem}`);
  if (result.problems.length > SHOWN_PROBLEMS)
    print(`… and ${result.problems.length - SHOWN_PROBLEMS} more problems`);
  print(
    result.problems.length === 0
      ? `All ${result.requests} requests succeeded and every base unit is accounted for (seed ${result.seed}).`
      : `${result.succeeded} of ${result.requests} requests succeeded; ${result.problems.length} problems (seed ${result.seed}).`,
  );
}

/** The same in machine-readable form. */
export async function writeResult(file: string, result: SoakResult): Promise<void> {
  const { measures, ...rest } = result;
  const percentiles = Object.fromEntries(
    [...measures].map(([name, values]) => [name.trim(), percentilesOf(values)]),
  );
  await writeFile(file, `${JSON.stringify({ ...rest, percentiles }, undefined, 2)}\n`);
}
