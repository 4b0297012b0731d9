import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { newTempDir, systemPath, workspaceNode } from "./paths.ts";
import { ProcessStartFailed, runToCompletion, startProcess, type ProcessSpec } from "./process.ts";

let folder: string;
beforeAll(() => void (folder = newTempDir("process-test")));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

function shell(script: string, overrides: Partial<ProcessSpec> = {}): ProcessSpec {
  const logFile = join(folder, `${Math.random()}.log`);
  const env = { PATH: systemPath };
  return {
    name: "child",
    command: "/bin/sh",
    args: ["-c", script],
    env,
    logFile,
    isReady: async () => true,
    ...overrides,
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie: it remains in the process table until its parent, often process 1, collects its status.
  return !(existsSync("/proc/self/stat") && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
}

async function waitForExit(pid: number, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (isAlive(pid) && performance.now() < deadlineMs) await sleep(20);
  return !isAlive(pid);
}

test("a child that exits before it is ready is reported with its last output", async () => {
  const start = startProcess(shell("echo the disk is full >&2; exit 3", { isReady: async () => false }));
  const error = await start.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProcessStartFailed);
  expect(String(error)).toContain("exit code 3");
  expect(String(error)).toContain("the disk is full");
});

test("a child that never becomes ready is stopped and reported", async () => {
  let pid = 0;
  const spec = shell("echo $$; exec sleep 60", { isReady: async () => false, readyWithinMs: 300 });
  const error = await startProcess(spec).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProcessStartFailed);
  if (error instanceof ProcessStartFailed) pid = Number(error.logTail);
  expect(pid).toBeGreaterThan(1);
  expect(isAlive(pid)).toBe(false);
});

test("retries a readiness check that hangs", async () => {
  let checks = 0;
  const isReady = async (signal: AbortSignal): Promise<boolean> => {
    checks += 1;
    if (checks > 1) return true;
    await once(signal, "abort");
    throw signal.reason;
  };
  const child = await startProcess(shell("exec sleep 60", { isReady, answerWithinMs: 50 }));
  expect(checks).toBe(2);
  await child.stop();
});

test("does not report what an earlier run wrote to the same log", async () => {
  const logFile = join(folder, "twice.log");
  const logTails: string[] = [];
  for (const script of ["echo EADDRINUSE; exit 1", "echo out of memory; exit 1"]) {
    const start = startProcess(shell(script, { logFile, isReady: async () => false }));
    const error = await start.catch((thrown: unknown) => thrown);
    if (error instanceof ProcessStartFailed) logTails.push(error.logTail);
  }
  expect(logTails).toEqual(["EADDRINUSE", "out of memory"]);
});

test("a program that does not exist fails instead of hanging", async () => {
  const start = startProcess(shell("", { command: join(folder, "missing") }));
  await expect(start).rejects.toThrow("ENOENT");
});

test("kills a child that ignores the stop signal after the timeout", async () => {
  const child = await startProcess(
    shell("trap '' TERM; echo deaf; while :; do sleep 0.05; done", { stopWithinMs: 200 }),
  );
  await vi.waitUntil(() => readFileSync(child.logFile, "utf8").includes("deaf"));
  const startedAtMs = performance.now();
  await child.stop();
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  expect(isAlive(child.pid)).toBe(false);
  expect((await child.exited).signal).toBe("SIGKILL");
});

test("runToCompletion throws if the program fails or takes too long", async () => {
  await expect(runToCompletion({ ...shell("exit 0"), withinMs: 5_000 })).resolves.toBeUndefined();
  await expect(runToCompletion({ ...shell("echo broken; exit 1"), withinMs: 5_000 })).rejects.toThrow(
    "broken",
  );
  await expect(runToCompletion({ ...shell("sleep 60"), withinMs: 100 })).rejects.toThrow(
    "did not exit within 100 ms",
  );
});

test("children exit when their parent is killed, even those that ignore SIGTERM, and their folders are removed", async () => {
  const removed = join(folder, "of-orphan");
  mkdirSync(removed);
  const program = `
    import { startProcess } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
    const child = async (script) => await startProcess({
      name: "grandchild", command: "/bin/sh", args: ["-c", script], env: { PATH: ${JSON.stringify(systemPath)} },
      logFile: ${JSON.stringify(join(folder, "grandchild.log"))}, isReady: async () => true,
      removeIfOrphaned: ${JSON.stringify(removed)},
    });
    const polite = await child("exec sleep 60");
    const stubborn = await child("trap '' INT TERM; while :; do sleep 0.05; done");
    process.stdout.write(polite.pid + " " + stubborn.pid + "\\n");
    setInterval(() => undefined, 1000);
  `;
  const parent = spawn(workspaceNode, ["-C", "source", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const [polite = 0, stubborn = 0] = line.toString("utf8").split(" ").map(Number);
  expect(isAlive(polite) && isAlive(stubborn)).toBe(true);
  expect(existsSync(removed)).toBe(true);
  parent.kill("SIGKILL");
  expect(await waitForExit(polite, 1_000)).toBe(true);
  expect(await waitForExit(stubborn, 4_000)).toBe(true);
  await vi.waitUntil(() => !existsSync(removed), 4_000);
}, 15_000);
