import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createLifecycle, runUntilSignal } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";

const silent = createLogger({ name: "test", level: "silent" });

class FakeProcess extends EventEmitter {
  exitCode: number | undefined;
  readonly exits: (number | string | null | undefined)[] = [];
  exit(code?: number | string | null): never {
    this.exits.push(code);
    return undefined as never;
  }
}
const asProcess = (fake: FakeProcess) =>
  fake as unknown as Pick<NodeJS.Process, "on" | "off" | "exit" | "exitCode">;

test("closes parts once and in reverse order, each after the previous one is done", async () => {
  const order: string[] = [];
  const lifecycle = createLifecycle(silent, 1000);
  for (const name of ["pool", "queue", "server"]) {
    lifecycle.add(name, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(name);
    });
  }
  expect(await Promise.all([lifecycle.close(), lifecycle.close()])).toEqual([true, true]);
  expect(order).toEqual(["server", "queue", "pool"]);
});

test("names a part that fails or hangs, and still closes the others", async () => {
  const lines: string[] = [];
  const order: string[] = [];
  const log = createLogger({ name: "test", level: "error" }, { write: (line) => void lines.push(line) });
  const lifecycle = createLifecycle(log, 30);
  lifecycle.add("pool", () => order.push("pool"));
  lifecycle.add("hanging", () => new Promise(() => undefined));
  lifecycle.add("failing", () => {
    throw new Error("no");
  });
  expect(await lifecycle.close()).toBe(false);
  expect(order).toEqual(["pool"]);
  expect(lines.map((line) => JSON.parse(line).part)).toEqual(["failing", "hanging"]);
});

test("a signal closes everything, and the process ends when the event loop is empty", async () => {
  const host = new FakeProcess();
  const lifecycle = createLifecycle(silent, 1000);
  let closed = false;
  lifecycle.add("server", () => (closed = true));
  const run = runUntilSignal({
    log: silent,
    lifecycle,
    start: async () => undefined,
    process: asProcess(host),
  });
  host.emit("SIGTERM", "SIGTERM");
  await run;
  expect([closed, host.exits, host.exitCode, host.listenerCount("SIGTERM")]).toEqual([
    true,
    [],
    undefined,
    0,
  ]);
});

test("a failed start closes what was started and leaves exit code 1", async () => {
  const host = new FakeProcess();
  const lifecycle = createLifecycle(silent, 1000);
  let closed = false;
  const start = async (): Promise<void> => {
    lifecycle.add("pool", () => (closed = true));
    throw new Error("port taken");
  };
  await runUntilSignal({ log: silent, lifecycle, start, process: asProcess(host) });
  expect([closed, host.exits, host.exitCode]).toEqual([true, [], 1]);
});

test("exits immediately on a second signal or when a part does not close", async () => {
  const host = new FakeProcess();
  const lifecycle = createLifecycle(silent, 30);
  lifecycle.add("hanging", () => new Promise(() => undefined));
  const run = runUntilSignal({
    log: silent,
    lifecycle,
    start: async () => undefined,
    process: asProcess(host),
  });
  host.emit("SIGINT", "SIGINT");
  host.emit("SIGINT", "SIGINT");
  expect(host.exits).toEqual([1]);
  await run;
  expect(host.exits).toEqual([1, 1]);
});
