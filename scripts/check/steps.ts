import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, runCommand } from "./run-command.ts";
import { type Counts, countsOf } from "./vitest-counts.ts";

/** What a step found, and what it printed. */
export interface StepResult extends Counts {
  readonly output: string;
}

/** One part of the check. */
export interface Step {
  readonly name: string;
  run(signal: AbortSignal): Promise<StepResult>;
}

type Command = readonly [program: string, ...args: string[]];

/**
 * A step is ended when it takes so long, which is at least five times what it takes on two quiet processors:
 * a busy machine must not fail it.
 */
const COMMAND_TIMEOUT_MS = 15 * 60_000;
const TESTS_TIMEOUT_MS = 120 * 60_000;

/**
 * Counts as one test: passed when every command ends well; all of them run, so that one start shows
 * everything. Counts as skipped when a command says that it left out what it is for.
 */
function commands(name: string, ...list: readonly Command[]): Step {
  return {
    name,
    run: async (signal) => {
      const results: CommandResult[] = [];
      for (const command of list)
        results.push(await runCommand(command, { timeoutMs: COMMAND_TIMEOUT_MS, signal }));
      const ok = results.every((result) => result.ok);
      const output = results.map((result) => result.output).join("");
      const skipped = ok && /^\w+: NOT (BUILT|RUN):/m.test(output) ? 1 : 0;
      return { passed: ok ? 1 - skipped : 0, failed: ok ? 0 : 1, skipped, output };
    },
  };
}

/** A project of test/vitest.config.ts, counted test by test. */
function tests(project: string): Step {
  return {
    name: project,
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
          { timeoutMs: TESTS_TIMEOUT_MS, signal },
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
 * Other steps read what these make (lint follows types into what the compiler emitted), so they go first, one
 * by one.
 */
const preparing: readonly Step[] = [
  commands("contracts", ["node", "-C", "source", "packages/contracts/scripts/compile.ts"]),
  commands("types", script("types.ts")),
];

/**
 * These need nothing of one another and run side by side; the longest first, so that the others fit beside
 * it.
 */
const independent: readonly Step[] = [
  commands("images", script("build-images.ts")),
  tests("unit"),
  commands("format", ["oxfmt", "--check"]),
  commands("lint", ["oxlint", "--type-aware", "--deny-warnings", "--format=unix"]),
  commands("solana", ["node", "-C", "source", "packages/contracts/solana/build.ts", "--check"]),
  commands("rooms", script("rooms.ts")),
  commands("house", script("house.ts")),
  commands("prose", script("prose.ts")),
  commands("openapi", script("openapi.ts", "--check")),
  commands("config-docs", script("config-docs.ts", "--check")),
  commands("lifecycle-docs", script("lifecycle-docs.ts", "--check")),
  commands("route-docs", script("route-docs.ts", "--check")),
  commands("licenses", script("notices.ts", "--check")),
  commands("unused", ["knip", "--no-progress"]),
];

/** Side by side, because a whole system often waits for blocks while integration tests compute. */
const running: readonly Step[] = [tests("e2e"), tests("integration")];

/** Reads the logs of all systems that the tests have run. */
const last: readonly Step[] = [commands("log-secrets", script("log-secrets.ts"))];

/** Steps in the order they run; those of one inner list may run side by side. */
export const phases: readonly (readonly Step[])[] = [
  ...preparing.map((step) => [step]),
  independent,
  running,
  last,
];
