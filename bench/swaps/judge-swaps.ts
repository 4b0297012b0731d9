import { judgeMax, judgeMin, type Verdict } from "../goals.ts";
import type { SwapFigures } from "./measure-swaps.ts";

const MEDIAN_MS = 12;
const P99_MS = 60;
const MIN_RATIO = 0.5;

export function judgeSwaps({ tookMs, rates, withoutBlocks }: SwapFigures): Verdict[] {
  return [
    judgeMax("quotes with swaps, 20 at a time, median", tookMs.p50, MEDIAN_MS, " ms"),
    judgeMax("quotes with swaps, 20 at a time, p99", tookMs.p99, P99_MS, " ms"),
    judgeMin("quotes with swaps, relative to those without", rates.ratio, MIN_RATIO),
    judgeMax(
      `chain calls for ${withoutBlocks.quotes.toLocaleString("en")} quotes with swaps while no block was mined`,
      // Excludes the calls that the API makes without quotes.
      Math.max(0, withoutBlocks.calls - withoutBlocks.idleCalls),
      0,
      "",
    ),
  ];
}
