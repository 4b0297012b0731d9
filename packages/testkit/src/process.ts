import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { guardAgainstOrphan } from "./orphan-guard.ts";
import { BUSY_MACHINE_HINT, PATIENCE_MS } from "./patience.ts";

/** How to start a child process, and how to detect that it is ready. */
export interface ProcessSpec {
  /** Short name for messages and errors. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** File to which both output streams are appended. Its end is quoted if the child fails. */
  readonly logFile: string;
  /** Called repeatedly until it returns true. An exception counts as "not yet". */
  readonly isReady: (signal: AbortSignal) => Promise<boolean>;
  /** Timeout in milliseconds. The default is long enough for a busy machine. */
  readonly readyWithinMs?: number;
  /** Milliseconds between two calls of `isReady`. */
  readonly pollIntervalMs?: number;
  /** Timeout of one call of `isReady`, in milliseconds. Default: 10,000. */
  readonly answerWithinMs?: number;
  readonly stopSignal?: NodeJS.Signals;
  /** Milliseconds after the stop signal until the child is killed. */
  readonly stopWithinMs?: number;
  readonly signal?: AbortSignal;
  /** Folder that the guard removes if this process dies before the child. */
  readonly removeIfOrphaned?: string;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the command could not be executed at all. */
  readonly error?: Error;
}

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves once the process has exited, for any reason. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  isRunning(): boolean;
  /** Sends a signal and returns immediately. */
  kill(signal: NodeJS.Signals): void;
  /** Stops the process, kills it if it does not exit, and returns once it has exited. Idempotent. */
  stop(): Promise<void>;
}

/** A child process exited or timed out before it was ready. `logTail` is the end of its output. */
export class ProcessStartFailed extends Error {
  override readonly name = "ProcessStartFailed";
  readonly code = "PROCESS_START_FAILED";
  readonly processName: string;
  readonly logTail: string;

  constructor(facts: { processName: string; reason: string; logTail: string }, options?: ErrorOptions) {
    const tail = facts.logTail === "" ? "" : `\n--- end of its log ---\n${facts.logTail}`;
    super(`${facts.processName}: ${facts.reason}${tail}`, options);
    this.processName = facts.processName;
    this.logTail = facts.logTail;
  }
}

/** The last `maxBytes` of a log file after offset `from`; empty if the file does not exist. */
export async function readLogTail(logFile: string, maxBytes = 4_000, from = 0): Promise<string> {
  const file = await open(logFile, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const start = Math.max(Math.min(from, size), size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead).toString("utf8").trimEnd();
  } finally {
    await file.close();
  }
}

/**
 * Starts a child process and returns once it is ready. The child runs in its own session, so that Ctrl-C in a
 * terminal reaches only this process, which stops its children in order; a guard stops the child if this
 * process dies before that.
 *
 * @throws ProcessStartFailed with the end of the child's output; the child has exited by then
 */
export async function startProcess(spec: ProcessSpec): Promise<RunningProcess> {
  spec.signal?.throwIfAborted();
  // Output of an earlier run in the same file must not be reported for this one.
  const { size: startOffset } = await stat(spec.logFile).catch(() => ({ size: 0 }));
  const child = launch(spec);
  const deadline = AbortSignal.timeout(spec.readyWithinMs ?? PATIENCE_MS);
  const signal = spec.signal === undefined ? deadline : AbortSignal.any([spec.signal, deadline]);
  const failed = async (reason: string, cause?: unknown): Promise<ProcessStartFailed> => {
    await child.stop();
    const logTail = await readLogTail(spec.logFile, undefined, startOffset);
    return new ProcessStartFailed({ processName: spec.name, reason, logTail }, { cause });
  };

  let lastProblem: unknown;
  while (child.isRunning()) {
    try {
      // A call that never returns must not use up the whole timeout, since the next one may succeed.
      const callSignal = AbortSignal.any([signal, AbortSignal.timeout(spec.answerWithinMs ?? 10_000)]);
      if ((await spec.isReady(callSignal)) && child.isRunning()) return child;
    } catch (error) {
      lastProblem = error;
    }
    if (signal.aborted) {
      throw await failed(
        deadline.aborted ? `not ready in time; ${BUSY_MACHINE_HINT}` : "start was canceled",
        lastProblem,
      );
    }
    await Promise.race([sleep(spec.pollIntervalMs ?? 15), child.exited]);
  }
  const { code, signal: bySignal, error } = await child.exited;
  const reason = error?.message ?? `exited before it was ready (${bySignal ?? `exit code ${code}`})`;
  throw await failed(reason, error ?? lastProblem);
}

/**
 * Runs a program until it exits.
 *
 * @throws ProcessStartFailed with the end of its output if it fails or takes too long
 */
export async function runToCompletion(
  spec: Omit<ProcessSpec, "isReady"> & { readonly withinMs: number },
): Promise<void> {
  const child = launch(spec);
  const exit = await Promise.race([child.exited, sleep(spec.withinMs, "late" as const, { ref: false })]);
  if (exit !== "late" && exit.code === 0) return;
  if (exit === "late") await child.stop();
  const logTail = await readLogTail(spec.logFile);
  const reason =
    exit === "late"
      ? `did not exit within ${spec.withinMs} ms; ${BUSY_MACHINE_HINT}`
      : `failed (${exit.error?.message ?? exit.signal ?? `exit code ${exit.code}`})`;
  throw new ProcessStartFailed({ processName: spec.name, reason, logTail });
}

function launch(spec: Omit<ProcessSpec, "isReady">): RunningProcess {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, "a");
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: { ...spec.env },
    detached: true,
    stdio: ["ignore", log, log],
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  closeSync(log);

  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    const setExit = (facts: ProcessExit): void => {
      exit = facts;
      resolve(facts);
    };
    child.once("exit", (code, signal) => setExit({ code, signal }));
    child.once("error", (error) => {
      // A command that cannot be executed has no process and therefore no exit event.
      if (child.pid === undefined) setExit({ code: 127, signal: null, error });
    });
  });
  const pid = child.pid;
  // The error event arrives later; until then, the process must not count as running.
  if (pid === undefined) exit = { code: 127, signal: null };
  if (pid !== undefined) guardAgainstOrphan(pid, exited, spec.removeIfOrphaned);

  const kill = (signal: NodeJS.Signals): void => {
    if (exit === undefined) child.kill(signal);
  };
  const stop = async (): Promise<void> => {
    kill(spec.stopSignal ?? "SIGTERM");
    const exitOrTimeout = await Promise.race([
      exited,
      sleep(spec.stopWithinMs ?? 10_000, "late" as const, { ref: false }),
    ]);
    if (exitOrTimeout === "late") {
      kill("SIGKILL");
      await exited;
    }
  };
  let stopping: Promise<void> | undefined;
  return {
    name: spec.name,
    pid: pid ?? -1,
    logFile: spec.logFile,
    exited,
    isRunning: () => exit === undefined,
    kill,
    stop: () => (stopping ??= stop()),
  };
}
