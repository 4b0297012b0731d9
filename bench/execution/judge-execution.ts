import { judgeMax, judgeMin, type Verdict } from "../goals.ts";
import { median } from "../median.ts";
import type { ContenderFigures } from "./contest.ts";
import type { ExecutionFigures } from "./measure-execution.ts";

const EXECUTED_RATIO = 2;
const INCLUSION_RATIO = 1.1;

/**
 * Compares sponsored executions with a bundler. Without one, nothing is compared, and
 * {@link executionLines} reports that.
 */
export function judgeExecution(figures: ExecutionFigures): Verdict[] {
  if (figures.kind === "skipped") return [];
  const { ours, bundler } = figures;
  return [
    judgeMin(
      "executions carried out per second, relative to a bundler",
      median(ours.includedPerSecond) / median(bundler.includedPerSecond),
      EXECUTED_RATIO,
    ),
    judgeMax(
      "time to inclusion, relative to a bundler",
      median(ours.inclusionMs) / median(bundler.inclusionMs),
      INCLUSION_RATIO,
      "",
    ),
  ];
}

/** The figures as table lines. */
export function executionLines(figures: ExecutionFigures): string[] {
  if (figures.kind === "skipped")
    return [
      "!!! SKIPPED: sponsored executions compared with a bundler. The bundler could not be installed:",
      `!!! ${figures.reason}`,
    ];
  return [
    "Sponsored executions: the same operations by the service and by a bundler, on one node with a block every second",
    ...lines("POST /execute", figures.ours),
    ...lines("bundler", figures.bundler),
  ];
}

function lines(
  name: string,
  { acceptedPerSecond, includedPerSecond, inclusionMs }: ContenderFigures,
): string[] {
  const rounds = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(" ");
  return [
    `  ${name.padEnd(26)} accepted median ${median(acceptedPerSecond).toFixed(0)} /s   rounds ${rounds(acceptedPerSecond)}`,
    `  ${"".padEnd(26)} carried out median ${median(includedPerSecond).toFixed(0)} /s   rounds ${rounds(includedPerSecond)}`,
    `  ${"".padEnd(26)} included after median ${median(inclusionMs).toFixed(0)} ms   rounds ${rounds(inclusionMs)}`,
  ];
}
