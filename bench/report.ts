import type { RunFigures, Verdict } from "./goals.ts";
import type { PhaseFigures } from "./phase.ts";
import type { PairRates, Rates } from "./rounds.ts";

/** The figures as table lines. */
export function tableOf({ before, after, chainCost }: RunFigures): string[] {
  const { calls, httpRequests, quotes, callsPerQuote, idleCallsPerSecond } = chainCost;
  return [
    ...phaseLines(before),
    ...(after === undefined ? [] : ["", ...phaseLines(after)]),
    "",
    `${quotes} quotes made ${calls} chain calls in ${httpRequests} HTTP requests: ${callsPerQuote.toFixed(4)} per quote ` +
      `(without quotes: ${idleCallsPerSecond.toFixed(1)} calls/s)`,
  ];
}

const BUSY_ENOUGH = 0.7;

/** Why the figures of a run may be unreliable; empty if they are reliable. */
export function doubtsOf({ before, after }: RunFigures): string[] {
  return [before, ...(after === undefined ? [] : [after])].flatMap(({ quote, status, storedRequests }) =>
    [quote.ours, quote.bare, status.ours, status.bare].some(({ busy }) => busy < BUSY_ENOUGH)
      ? [
          `!!! With ${storedRequests.toLocaleString("en")} stored a server had less than ${BUSY_ENOUGH * 100} % of its core: ` +
            "other processes used the machine, so rates and ratios vary. CPU time per response is more reliable.",
        ]
      : [],
  );
}

/** One line per goal. */
export function verdictLines(verdicts: readonly Verdict[]): string[] {
  const width = Math.max(...verdicts.map(({ goal }) => goal.length));
  return verdicts.map(
    ({ goal, measured, passed }) =>
      `${passed ? "PASS" : "FAIL"}  ${goal.padEnd(width)}  ${measured.padStart(9)}`,
  );
}

function phaseLines({ storedRequests, singleMs, quote, status }: PhaseFigures): string[] {
  const single = (name: string, { p50, p90, p99, max, count }: PhaseFigures["singleMs"]["ours"]): string =>
    `  ${name.padEnd(26)} median ${ms(p50)}   p90 ${ms(p90)}   p99 ${ms(p99)}   max ${ms(max)} ms   (${count})`;
  return [
    `With ${storedRequests.toLocaleString("en")} requests stored at the start`,
    single("quote, one at a time", singleMs.ours),
    single("bare POST, one at a time", singleMs.bare),
    ...pairLines("quote", "bare POST", quote),
    ...pairLines("status", "bare GET", status),
  ];
}

/** A route, its bare counterpart, and the ratio. */
export function pairLines(name: string, bareName: string, pair: PairRates, connections = 64): string[] {
  const line = (title: string, { median, perRound, busy, cpuUs, bytesPerAnswer }: Rates): string =>
    `  ${`${title}, ${connections} connections`.padEnd(26)} median ${median.toFixed(0).padStart(6)} /s   ` +
    `rounds ${perRound.map((rate) => rate.toFixed(0)).join(" ")}   server busy ${(busy * 100).toFixed(0)} %, ` +
    `${cpuUs.toFixed(0)} us per response   ` +
    `${bytesPerAnswer.toFixed(0)} bytes per response`;
  const ratios = pair.ratioPerRound.map((ratio) => ratio.toFixed(3)).join(" ");
  return [
    line(name, pair.ours),
    line(bareName, pair.bare),
    `  ${"ratio".padEnd(26)} median ${pair.ratio.toFixed(3).padStart(6)}      rounds ${ratios}`,
  ];
}

function ms(value: number): string {
  return value.toFixed(2).padStart(6);
}
