import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";

/** The folder of the repository. */
export const root: string = resolve(import.meta.dirname, "../..");

/** Every step runs on the same Node as the check. */
const nodeFolder = dirname(process.execPath);

/** How a command ended, and everything it printed, in order. */
export interface CommandResult {
  readonly ok: boolean;
  readonly output: string;
}

/**
 * Runs a command of the workspace until it exits. A program without a slash is one of node_modules/.bin, or
 * `node`. The command is killed and fails once `timeoutMs` pass or `signal` aborts. A timeout is reported
 * with `typicalSeconds`, which shows whether the limit or the command is at fault.
 */
export async function runCommand(
  command: readonly [program: string, ...args: string[]],
  options: {
    readonly timeoutMs: number;
    readonly typicalSeconds?: number;
    readonly signal: AbortSignal;
    readonly cwd?: string;
    /** Added to the environment of this process. */
    readonly env?: Readonly<Record<string, string>>;
    /** Scheduling priority of the command: the higher, the less urgent. Default: that of this process. */
    readonly niceness?: number;
  },
): Promise<CommandResult> {
  const [program, ...args] = command;
  const path = [nodeFolder, join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter);
  const child = spawn(program, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, PATH: path, NO_COLOR: "1", FORCE_COLOR: "0", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, so that child processes of the command end with it.
    detached: true,
  });
  if (options.niceness !== undefined && child.pid !== undefined) setPriority(child.pid, options.niceness);
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const end = (reason: string, killSignal: NodeJS.Signals) => {
    output += `\n${reason}\n`;
    if (child.pid !== undefined) process.kill(-child.pid, killSignal);
  };
  const onAbort = () => end("stopped on request", "SIGTERM");
  const usual = options.typicalSeconds === undefined ? "" : `; it usually takes ${options.typicalSeconds} s`;
  const timer = setTimeout(
    () => end(`${program} timed out after ${options.timeoutMs / 1000} s${usual}`, "SIGKILL"),
    options.timeoutMs,
  );
  options.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const code = await new Promise<number | null>((settle) => {
      child.once("error", (error) => {
        output += `${error.message}\n`;
        settle(1);
      });
      child.once("close", settle);
    });
    return { ok: code === 0, output };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
  }
}
