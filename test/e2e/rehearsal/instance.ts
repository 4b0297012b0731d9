import { localnetDir, newTempDir, programCommand, repositoryRoot, startProcess } from "@causeway/testkit";
import type { RunningProcess } from "@causeway/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { parseDockerfile } from "../../../scripts/check/dockerfile.ts";

/** The environment variables of one process. */
export type Variables = Readonly<Record<string, string>>;

/** The output and exit code of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** The output lines, parsed as JSON. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** A process of the instance, as its image or compose file starts it. */
export interface Program {
  readonly image: "api" | "oracle";
  /** The entry file in the image, such as `dist/worker.js`. */
  readonly entry: string;
  /** Called at each start, so that a restart applies changes. */
  readonly env: () => Variables;
  /** The address on which the program listens: a port on 127.0.0.1, or the path of a socket. */
  readonly listensOn: number | string;
  readonly readyPath: string;
}

/** The operator's machines: files, commands and processes. */
export interface Instance {
  /** The folder with `configs`, `secrets` and the socket. */
  readonly folder: string;
  /** Writes `KEY=VALUE` lines into `secrets/<process>/keys`. */
  writeSecrets(process: string, secrets: Variables): Promise<void>;
  /** The folder of a process's secrets. */
  secretsOf(process: string): string;
  /** Runs `operator <words>`. */
  operator(words: readonly string[], env: Variables): Promise<CommandResult>;
  /** Runs `operator <words>`, and kills the command with SIGKILL once a printed line matches `when`. */
  operatorKilled(words: readonly string[], env: Variables, when: RegExp): Promise<void>;
  /** Runs a program of the image until it ends. */
  run(entry: string, env: Variables): Promise<CommandResult>;
  start(name: string, program: Program): Promise<void>;
  /** Stops the process as a platform does, and starts it again with its current variables. */
  restart(name: string): Promise<void>;
  pid(name: string): number;
  /** All log output of the processes. */
  logs(): Promise<string>;
  stop(): Promise<void>;
}

const STOP_WITHIN_MS = 40_000;

/** @param portBase names the folder of the logs */
export async function createInstance(portBase: number): Promise<Instance> {
  const folder = newTempDir("rehearsal");
  await chmod(folder, 0o700);
  const logFolder = join(localnetDir, String(portBase), "logs");
  await rm(logFolder, { recursive: true, force: true });
  for (const subfolder of ["configs", "secrets"]) await mkdir(join(folder, subfolder));
  const programs = new Map<string, { readonly program: Program; running: RunningProcess }>();

  const launch = async (name: string, program: Program): Promise<RunningProcess> =>
    await startProcess({
      ...imageCommand(program.image, program.entry, program.env()),
      name,
      logFile: join(logFolder, `${name}.log`),
      isReady: async () => (await statusOf(program.listensOn, program.readyPath)) === 200,
      pollIntervalMs: 50,
      stopWithinMs: STOP_WITHIN_MS,
    });
  const startedProcess = (name: string) => {
    const found = programs.get(name);
    if (found === undefined) throw new Error(`${name} was not started`);
    return found;
  };

  const secretsOf = (process: string): string => join(folder, "secrets", process);

  return {
    folder,
    secretsOf,
    async writeSecrets(process, secrets) {
      await mkdir(secretsOf(process), { recursive: true, mode: 0o700 });
      const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
      await writeFile(join(secretsOf(process), "keys"), lines.join(""), { mode: 0o600 });
    },
    operator: async (words, env) => await runToEnd(imageCommand("api", "dist/operator.js", env, words)),
    async operatorKilled(words, env, when) {
      const { command, args, cwd, env: variables } = imageCommand("api", "dist/operator.js", env, words);
      const child = spawn(command, args, { cwd, env: variables });
      const exited = once(child, "exit");
      const errors = text(child.stderr);
      for await (const line of createInterface(child.stdout)) if (when.test(line)) child.kill("SIGKILL");
      const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
      expect(signal, await errors).toBe("SIGKILL");
    },
    run: async (entry, env) => await runToEnd(imageCommand("api", entry, env)),
    async start(name, program) {
      programs.set(name, { program, running: await launch(name, program) });
    },
    async restart(name) {
      const started = startedProcess(name);
      await started.running.stop();
      started.running = await launch(name, started.program);
    },
    pid: (name) => startedProcess(name).running.pid,
    async logs() {
      const files = [...programs.keys()].map((name) => join(logFolder, `${name}.log`));
      return (await Promise.all(files.map(async (file) => await readFile(file, "utf8")))).join("");
    },
    async stop() {
      await Promise.all([...programs.values()].map(async ({ running }) => await running.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The command with which an image starts `entry`, run from the source files. */
function imageCommand(image: Program["image"], entry: string, env: Variables, words: readonly string[] = []) {
  const last = parseDockerfile(readFileSync(join(repositoryRoot, `Dockerfile.${image}`), "utf8")).at(-1);
  const textOf = (name: string): string =>
    last?.instructions.find((instruction) => instruction.name === name)?.text ?? "";
  const [, ...flags] = JSON.parse(textOf("ENTRYPOINT")) as readonly string[];
  const program = programCommand(`apps/${image}/src/${entry.replace(/^dist\/(.*)\.js$/, "$1.ts")}`);
  // The image's flags replace those of the local system.
  const [, ...sourced] = program.args;
  const imageEnv = Object.fromEntries(
    textOf("ENV")
      .split(" ")
      .map((pair) => pair.split("=", 2) as [string, string]),
  );
  return {
    command: program.command,
    args: [...flags, ...sourced, ...words],
    cwd: program.cwd,
    env: { ...program.env, ...imageEnv, ...env },
  };
}

async function runToEnd({
  command,
  args,
  cwd,
  env,
}: ReturnType<typeof imageCommand>): Promise<CommandResult> {
  const child = spawn(command, args, { cwd, env });
  const exited = once(child, "exit");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await exited) as [number | null];
  const json = output.split("\n").filter((line) => line.startsWith("{"));
  return {
    code,
    output,
    errors,
    lines: json.map((line) => JSON.parse(line) as CommandResult["lines"][number]),
  };
}

async function statusOf(at: Program["listensOn"], path: string): Promise<number | undefined> {
  const where = typeof at === "string" ? { socketPath: at } : { host: "127.0.0.1", port: at };
  return await new Promise((resolve, reject) => {
    request({ ...where, path, timeout: 2_000 }, (answer) => resolve(answer.resume().statusCode))
      .once("error", reject)
      .end();
  });
}
