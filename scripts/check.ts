import { parseArgs } from "node:util";
import { phases, type Step } from "./check/steps.ts";
import { type Duration, fileDurations, slowest } from "./check/slow-files.ts";
import { type Counts, summaryLine } from "./check/vitest-counts.ts";
import { programOptions } from "./program-options.ts";

/**
 * Runs every check that a change must pass, exactly as CI does. A failing step prints its output, and later
 * steps still run. Ends with the line `N passed, N failed`. `--only unit,lint` runs
 * only some steps.
 */
const SIDE_BY_SIDE = 2;
const startedAtMs = Date.now();

const names = phases.flat().map((step) => step.name);
const usage = `usage: npm test -- [options]
  --only A,B   run only these steps: ${names.join(", ")}`;
const selectedSteps = programOptions(usage, wantedSteps);

const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    say(`${signal}: stopping running steps`);
    interrupt.abort();
  });
}
// Only if another Node started this one with a channel: the parent died without forwarding a signal.
process.once("disconnect", () => interrupt.abort());
process.channel?.unref();

const running = new Set<string>();
const counts: Counts[] = [];
const files: Duration[] = [];
const steps: Duration[] = [];
const beat = setInterval(() => say(`still running: ${[...running].join(", ")}`), 20_000);
for (const phase of phases) {
  const queue = phase.filter((step) => selectedSteps.includes(step.name));
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => runSteps(queue)));
}
clearInterval(beat);

const total = counts.reduce(
  (sum, c) => ({
    passed: sum.passed + c.passed,
    failed: sum.failed + c.failed,
    skipped: sum.skipped + c.skipped,
  }),
  { passed: 0, failed: interrupt.signal.aborted ? 1 : 0, skipped: 0 },
);
if (files.length > 0) reportDurations("slowest test files", slowest(files, 20));
reportDurations("steps", steps);
console.log(summaryLine(total));
if (total.failed > 0 || total.passed === 0) process.exitCode = 1;

/** @throws RangeError for an unknown step, TypeError for an unknown option */
function wantedSteps(args: readonly string[]): readonly string[] {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string" } } });
  const selected = values.only?.split(",") ?? names;
  const unknown = selected.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new RangeError(`--only: unknown step ${unknown.join(", ")}`);
  return selected;
}

async function runSteps(queue: Step[]): Promise<void> {
  for (let step = queue.shift(); step !== undefined && !interrupt.signal.aborted; step = queue.shift()) {
    const beganAtMs = Date.now();
    running.add(step.name);
    say(`${step.name} …`);
    const { output, ...result } = await step.run(interrupt.signal);
    running.delete(step.name);
    counts.push(result);
    if (result.failed > 0)
      console.log(`--- ${step.name} ---\n${output.trimEnd()}\n--- end of ${step.name} ---`);
    else printNotable(output);
    const verdict = result.failed > 0 ? "FAILED" : "ok";
    const seconds = (Date.now() - beganAtMs) / 1000;
    files.push(...fileDurations(output));
    steps.push({ seconds, name: step.name });
    say(`${step.name} ${verdict} in ${seconds.toFixed(1)} s (${summaryLine(result)})`);
  }
}

/** Of a passed step, only the lines that report what was tested or used. */
function printNotable(output: string): void {
  for (const line of output.split("\n"))
    if (/^(solana|rooms|images|integration|e2e|logs|promtool): /.test(line)) console.log(`  ${line}`);
}

function reportDurations(title: string, durations: readonly Duration[]): void {
  console.log(`${title}:`);
  for (const { seconds, name } of durations) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

function say(text: string): void {
  console.log(`[${((Date.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s] ${text}`);
}
