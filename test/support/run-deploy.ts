import { programCommand } from "@causeway/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect, vi } from "vitest";
import { runDeploy } from "../../apps/api/src/process/commands/deploy-command.ts";

/** What `operator deploy` printed. */
export interface DeployRun {
  readonly code: number;
  /** The output lines, parsed as JSON. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs `operator deploy`.
 * @param times number of concurrent runs; the result has the highest exit code
 */
export async function runDeployCommand(
  args: string,
  env: Readonly<Record<string, string>>,
  times = 1,
): Promise<DeployRun> {
  let [output, errors] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    output += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    errors += String(chunk);
    return true;
  });
  const runs = Array.from({ length: times }, () => runDeploy(args.split(" "), env));
  const code = Math.max(...(await Promise.all(runs)));
  vi.restoreAllMocks();
  const lines = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as DeployRun["lines"][number]);
  return { code, lines, output, errors };
}

/**
 * Runs `operator deploy` in a child process, and kills it after `count` output lines contained `printed`.
 */
export async function runDeployKilled(
  words: string,
  env: Readonly<Record<string, string>>,
  printed: string,
  count: number,
): Promise<void> {
  const { command, args, cwd, env: programEnv } = programCommand("test/support/deploy-process.ts");
  const child = spawn(command, [...args, ...words.split(" ")], { cwd, env: { ...programEnv, ...env } });
  const exited = once(child, "exit");
  const errors = text(child.stderr);
  let seen = 0;
  for await (const line of createInterface(child.stdout)) {
    if (line.includes(printed)) seen += 1;
    if (seen === count) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  expect([signal, seen >= count], await errors).toEqual(["SIGKILL", true]);
}
