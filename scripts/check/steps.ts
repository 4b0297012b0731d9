import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import { type Counts, countsOf } from "./vitest-counts.ts";

/** The counts of a step, and its output. */
export interface StepResult extends Counts {
  readonly output: string;
}

/** One part of the check. */
export interface Step {
  readonly name: string;
  /** Usual duration on two otherwise idle CPUs. */
  readonly typicalSeconds: number;
  /** A step that takes this long is killed and fails. */
  readonly timeoutMs: number;
  run(signal: AbortSignal): Promise<StepResult>;
}

type Command = readonly [program: string, ...args: string[]];

/** A step may take this many times its usual duration: a busy machine must not fail it. */
const BUSY_FACTOR = 8;
const MIN_COMMAND_TIMEOUT_MS = 15 * 60_000;
const MIN_TESTS_TIMEOUT_MS = 120 * 60_000;

const timeoutOf = (typicalSeconds: number, minMs: number): number =>
  Math.max(BUSY_FACTOR * typicalSeconds * 1000, minMs);

/**
 * Counts as one test, which passes if the command succeeds. Counts as skipped if the command reports that it
 * skipped its work.
 */
function command(name: string, typicalSeconds: number, line: Command): Step {
  const timeoutMs = timeoutOf(typicalSeconds, MIN_COMMAND_TIMEOUT_MS);
  return {
    name,
    typicalSeconds,
    timeoutMs,
    run: async (signal) => {
      const { ok, output } = await runCommand(line, { timeoutMs, typicalSeconds, signal });
      const skipped = ok && /^\w+: NOT (BUILT|RUN):/m.test(output) ? 1 : 0;
      return { passed: ok ? 1 - skipped : 0, failed: ok ? 0 : 1, skipped, output };
    },
  };
}

/** A project of test/vitest.config.ts, counted test by test. */
function tests(project: string, typicalSeconds: number, niceness = 0): Step {
  const timeoutMs = timeoutOf(typicalSeconds, MIN_TESTS_TIMEOUT_MS);
  return {
    name: project,
    typicalSeconds,
    timeoutMs,
    run: async (signal) => {
      const folder = await mkdtemp(join(tmpdir(), "causeway-check-"));
      const file = join(folder, "report.json");
      try {
        const { ok, output } = await runCommand(
          [
            "node",
            "-C",
            "source",
            "node_modules/vitest/vitest.mjs",
            "run",
            "--config",
            "test/vitest.config.ts",
            "--project",
            project,
            "--reporter=default",
            `--reporter=${join(import.meta.dirname, "slow-files.ts")}`,
            "--reporter=json",
            `--outputFile.json=${file}`,
          ],
          { timeoutMs, typicalSeconds, signal, niceness },
        );
        const report = await readFile(file, "utf8").catch(() => undefined);
        return { ...countsOf(report, ok), output };
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

const script = (file: string, ...args: string[]): Command => [
  "node",
  "-C",
  "source",
  `scripts/${file}`,
  ...args,
];

/**
 * Other steps read the output of these (lint follows types into the compiler's output), so they run first,
 * one at a time.
 */
const preparing: readonly Step[] = [
  command("contracts", 0.2, ["node", "-C", "source", "packages/contracts/scripts/compile.ts"]),
  command("types", 65, script("types.ts")),
];

/** Independent steps, which run in parallel; the longest first, so that the others fit next to it. */
const independent: readonly Step[] = [
  command("images", 165, script("build-images.ts")),
  tests("unit", 125),
  command("format", 1, ["oxfmt", "--check"]),
  command("lint", 55, ["oxlint", "--type-aware", "--deny-warnings", "--format=unix"]),
  command("solana", 1, ["node", "-C", "source", "packages/contracts/solana/build.ts", "--check"]),
  command("rooms", 8, script("rooms.ts")),
  command("house", 2, script("house.ts")),
  command("prose", 4, script("prose.ts")),
  command("openapi", 3, script("openapi.ts", "--check")),
  command("config-docs", 1, script("config-docs.ts", "--check")),
  command("lifecycle-docs", 1, script("lifecycle-docs.ts", "--check")),
  command("route-docs", 1, script("route-docs.ts", "--check")),
  command("family-lists", 1, script("family-lists.ts", "--check")),
  command("observability", 2, script("observability.ts", "--check")),
  command("licenses", 1, script("notices.ts", "--check")),
  command("unused", 6, ["knip", "--no-progress"]),
];

/**
 * In parallel, because a whole system often waits for blocks while integration tests compute. End-to-end
 * tests get the CPUs first, so that a system does not wait for a busy machine.
 */
const running: readonly Step[] = [tests("e2e", 940), tests("integration", 1050, 5)];

/** Reads the logs of all systems that the tests have run. */
const last: readonly Step[] = [command("log-secrets", 1, script("log-secrets.ts"))];

/** Steps in the order they run; those of an inner list may run in parallel. */
export const phases: readonly (readonly Step[])[] = [
  ...preparing.map((step) => [step]),
  independent,
  running,
  last,
];

/** @throws Error for an unknown step */
export function stepNamed(name: string): Step {
  const step = phases.flat().find((candidate) => candidate.name === name);
  if (step === undefined) throw new Error(`unknown step: ${name}`);
  return step;
}
