import type { Reporter, TestModule } from "vitest/node";

/** The duration of a step or a test file. */
export interface Duration {
  readonly seconds: number;
  readonly name: string;
}

const PREFIX = "file took: ";

/**
 * A reporter for vitest that prints one line per test file, imports and hooks included; {@link fileDurations}
 * reads them.
 */
export default class FileDurations implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
        module.diagnostic();
      const ms = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
      console.log(`${PREFIX}${(ms / 1000).toFixed(1)} s ${module.relativeModuleId}`);
    }
  }
}

/** The durations in the output of one step; empty if it ran no test file. */
export function fileDurations(output: string): Duration[] {
  return output.split("\n").flatMap((line) => {
    const [, seconds, name] = /^file took: ([\d.]+) s (.+)$/.exec(line) ?? [];
    return seconds === undefined || name === undefined ? [] : [{ seconds: Number(seconds), name }];
  });
}

/** Slowest first. */
export function slowest(durations: readonly Duration[], count: number): Duration[] {
  return durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
}
