import type { Logger } from "./logging.ts";
import { StartProblem } from "./start-problem.ts";

/** The parts that a process must close before it exits, in reverse order of creation. */
export interface Lifecycle {
  /** `close` is called once, after everything that was added later is closed. */
  add(name: string, close: () => unknown): void;
  /**
   * Closes everything; what fails or hangs is logged by name and does not keep the rest from closing. True if
   * all closed in time.
   */
  close(): Promise<boolean>;
}

/** `deadlineMs` covers all closings together. */
export function createLifecycle(log: Logger, deadlineMs: number): Lifecycle {
  const open: { readonly name: string; readonly close: () => unknown }[] = [];
  let closing: Promise<boolean> | undefined;

  async function closeAll(): Promise<boolean> {
    const deadlineAtMs = performance.now() + deadlineMs;
    let isClean = true;
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      try {
        await withTimeout(Math.max(0, deadlineAtMs - performance.now()), part.close);
      } catch (err) {
        isClean = false;
        log.error({ event: "closeFailed", part: part.name, err });
      }
    }
    return isClean;
  }

  return {
    add: (name, close) => void open.push({ name, close }),
    close: () => (closing ??= closeAll()),
  };
}

/**
 * Runs a process: `start`, wait for SIGTERM or SIGINT, close. Ends when the event loop is empty instead of
 * calling `process.exit`, so that no log line is lost; only a failed close or a second signal forces the
 * exit. If `start` throws, it closes what was started, logs, and sets exit code 1.
 */
export async function runUntilSignal(options: {
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly start: () => Promise<unknown>;
  readonly process?: Pick<NodeJS.Process, "on" | "off" | "exit" | "exitCode">;
}): Promise<void> {
  const { log, lifecycle, start } = options;
  const host = options.process ?? process;
  const receivedSignal = Promise.withResolvers<string>();
  let isStopping = false;
  const onSignal = (signal: string): void => {
    if (isStopping) host.exit(1);
    isStopping = true;
    receivedSignal.resolve(signal);
  };
  for (const name of ["SIGTERM", "SIGINT"] as const) host.on(name, onSignal);
  try {
    try {
      // A signal during a hanging start must end the process too.
      await Promise.race([start(), receivedSignal.promise]);
      const signal = await receivedSignal.promise;
      log.info({ event: "stopping", signal });
    } catch (err) {
      isStopping = true;
      // The cause is outside the code, so log the message without the stack.
      if (err instanceof StartProblem) log.fatal({ event: "startFailed", problem: err.message });
      else log.fatal({ event: "startFailed", err });
      host.exitCode = 1;
    }
    const isClean = await lifecycle.close();
    log.info({ event: "stopped", clean: isClean });
    if (!isClean) host.exit(1);
  } finally {
    for (const name of ["SIGTERM", "SIGINT"] as const) host.off(name, onSignal);
  }
}

async function withTimeout(ms: number, act: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not close within ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([act(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
