import { pairLines } from "../report.ts";
import type { SwapFigures } from "./measure-swaps.ts";
import type { Percentiles } from "../../scripts/soak/percentiles.ts";

/** The figures as table lines. */
export function swapLines({ tookMs, perKindMs, rates, withoutBlocks }: SwapFigures): string[] {
  const ms = (value: number): string => value.toFixed(2).padStart(6);
  const line = (name: string, { p50, p90, p99, max, count }: Percentiles): string =>
    `  ${name.padEnd(26)} median ${ms(p50)}   p90 ${ms(p90)}   p99 ${ms(p99)}   max ${ms(max)} ms   (${count})`;
  return [
    "Quotes with swaps, 20 at a time, in all trade types",
    line("all in turn", tookMs),
    ...perKindMs.map((figures) => line(`swaps ${figures.kind}`, figures.tookMs)),
    ...pairLines("with swaps", "without", rates, 20),
    `  no block mined             ${withoutBlocks.calls} chain calls for ${withoutBlocks.quotes.toLocaleString("en")} quotes, ` +
      `${withoutBlocks.idleCalls} in the same time without quotes`,
  ];
}
