import { createServer } from "node:net";
import fastify from "fastify";
import { expect, test } from "vitest";
import { createLifecycle, runUntilSignal } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { listenOn, StartProblem } from "./start-problem.ts";

test("names the setting of the port when the port is taken", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const server = fastify();
  await expect(listenOn(server, { host: "127.0.0.1", port, portName: "HEALTH_PORT" })).rejects.toEqual(
    new StartProblem(
      `port ${port} of 127.0.0.1 is in use by another process; stop that process, or set HEALTH_PORT to a free port`,
    ),
  );
  await server.close();
  other.close();
});

test("names HTTP_HOST when the address belongs to another host", async () => {
  const server = fastify();
  // In TEST-NET-1, which no host uses.
  await expect(listenOn(server, { host: "192.0.2.1", port: 0, portName: "HTTP_PORT" })).rejects.toThrow(
    "HTTP_HOST 192.0.2.1 is not an address of this host",
  );
  await server.close();
});

test("logs one line without a stack trace when startup fails for an environment reason", async () => {
  const lines: string[] = [];
  const log = createLogger({ name: "test", level: "info" }, { write: (line) => void lines.push(line) });
  const host = { exitCode: undefined as number | undefined, on() {}, off() {}, exit() {} };
  await runUntilSignal({
    log,
    lifecycle: createLifecycle(log, 1_000),
    start: async () => await Promise.reject(new StartProblem("do this", { cause: new Error("inner") })),
    process: host as unknown as Pick<NodeJS.Process, "on" | "off" | "exit" | "exitCode">,
  });
  expect(host.exitCode).toBe(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: "startFailed", problem: "do this" });
  expect(lines.join()).not.toMatch(/stack|inner/);
});
