import { ServiceError } from "@causeway/domain";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createLogger, withoutUrlSecrets } from "./logging.ts";
import { prettyLines } from "./pretty-lines.ts";

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = "";
  write(createLogger({ name: "test", level: "info" }, { write: (line) => void (text += line) }));
  return text;
}

test("removes secrets anywhere in a line", () => {
  const text = logged((log) =>
    log.info({
      privateKey: "s3cret",
      chain: { rpcUrl: "s3cret", id: 1 },
      request: { headers: { authorization: "s3cret", "x-api-key": "s3cret" } },
    }),
  );
  expect(text).not.toContain("s3cret");
  expect(JSON.parse(text)).toMatchObject({ privateKey: "[secret]", chain: { id: 1 } });
});

test("removes secrets of lists, of errors and of child loggers, and nothing else", () => {
  const facts = { nodes: [{ rpcUrl: "s3cret" }, { id: 2 }], at: new Date(0), none: undefined };
  const err = new ServiceError("INVALID_REQUEST", "x", { data: { apiKey: "s3cret", limit: 3 } });
  Object.assign(err, { apiKey: "s3cret", url: "s3cret" });
  const text = logged((log) => log.child({ password: "s3cret", part: "relay" }).info({ ...facts, err }));
  expect(text).not.toContain("s3cret");
  expect(JSON.parse(text)).toMatchObject({
    password: "[secret]",
    part: "relay",
    nodes: [{ rpcUrl: "[secret]" }, { id: 2 }],
    at: "1970-01-01T00:00:00.000Z",
    err: { data: { apiKey: "[secret]", limit: 3 } },
  });
  expect(facts.nodes[0]).toEqual({ rpcUrl: "s3cret" });
});

test("a line has its time in UTC", () => {
  const { time } = JSON.parse(logged((log) => log.info({ event: "listening" }))) as { time: string };
  expect(time).toBe(new Date(time).toISOString());
});

test("a pretty line has the same facts, and an error's stack on separate lines", () => {
  let text = "";
  const log = createLogger(
    { name: "api", level: "info" },
    prettyLines({ write: (line) => void (text += line) }, false),
  );
  log.warn({ event: "configuration", warning: "two words", chains: ["base"], n: 1 });
  expect(text).toMatch(
    /^\d{4}-\d\d-\d\dT[\d:.]+Z WARN  api configuration warning="two words" chains=\["base"\] n=1\n$/,
  );
  text = "";
  log.error({
    event: "chain_fault",
    apiKey: "s3cret",
    err: new Error("no answer from https://node.example/KEY"),
  });
  const [line, ...stack] = text.trimEnd().split("\n");
  expect(line).toMatch(
    /ERROR api chain_fault apiKey="\[secret\]" err=\{"type":"Error","message":"no answer .*"\}$/,
  );
  expect(stack.length).toBeGreaterThan(2);
  expect(stack.every((stackLine) => stackLine.startsWith("    "))).toBe(true);
  expect(text).not.toMatch(/s3cret|KEY/);
});

test.for([
  ["https://user:pass@node.example/v2/KEY?x=KEY", "https://node.example/[secret]"],
  ["wss://node.example/KEY failed", "wss://node.example/[secret] failed"],
  ["postgres://causeway:pass@127.0.0.1:5432/causeway", "postgres://127.0.0.1:5432/[secret]"],
  [
    "at http://127.0.0.1:8545/ and http://127.0.0.1:8545",
    "at http://127.0.0.1:8545 and http://127.0.0.1:8545",
  ],
  ["no URL: a://", "no URL: a://"],
  [
    "at relay (file:///srv/app/dist/relay.js:10:5)\n  at node:internal/timers:1:2 https://node.example/KEY",
    "at relay (file:///srv/app/dist/relay.js:10:5)\n  at node:internal/timers:1:2 https://node.example/[secret]",
  ],
])("%s is logged as %s", ([text, shown]) => {
  expect(withoutUrlSecrets(text ?? "")).toBe(shown);
});

test("logs an error with code, facts and causes, without the properties that client libraries attach", () => {
  const cause = Object.assign(new Error("POST https://node.example/KEY"), {
    request: { url: "KEY" },
    code: "ECONNRESET",
  });
  const message = "no answer of https://node.example/KEY";
  const err = new ServiceError("RPC_HTTP_ERROR", message, { requestId: "0x01", cause });
  const text = logged((log) => log.error({ err }));
  expect(text).not.toContain("KEY");
  expect(JSON.parse(text).err).toMatchObject({
    type: "ServiceError",
    code: "RPC_HTTP_ERROR",
    message: "no answer of https://node.example/[secret]",
    requestId: "0x01",
    cause: { code: "ECONNRESET", message: "POST https://node.example/[secret]" },
  });
});

/** Logs a line at each message, and answers in a later turn of the event loop. */
const CHILD = `
  const { createLogger } = await import(${JSON.stringify(new URL("./logging.ts", import.meta.url).href)});
  const loggers = Array.from({ length: 11 }, () => createLogger({ name: "child", level: "info" }));
  process.on("message", (message) => {
    for (const log of loggers) log.info({ message });
    if (message === "exit") process.exit(0);
    setTimeout(() => process.send({ message, exitListeners: process.listenerCount("exit") }), 1);
  });
  process.send("ready");
`;

async function startChild(stdout: "pipe" | number) {
  const args = ["-C", "source", "--input-type=module", "-e", CHILD];
  const child = spawn(process.execPath, args, { stdio: ["ignore", stdout, "pipe", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr?.on("data", (part: Buffer) => (stderr += part.toString()));
  await once(child, "message");
  return {
    child,
    ask: async (message: string): Promise<unknown> => {
      child.send(message);
      return (await once(child, "message", { signal: AbortSignal.timeout(20_000) }))[0];
    },
    end: async (): Promise<unknown> => {
      child.send("exit");
      const [code] = await once(child, "close", { signal: AbortSignal.timeout(20_000) });
      return { code, stderr };
    },
  };
}

test("writes the lines of all loggers in order, also those of the turn that exits", async () => {
  const { child, ask, end } = await startChild("pipe");
  let stdout = "";
  child.stdout?.on("data", (part: Buffer) => (stdout += part.toString()));
  expect(await ask("first")).toMatchObject({ message: "first", exitListeners: 1 });
  expect(await end()).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toEqual([...Array(11).fill("first"), ...Array(11).fill("exit")]);
});

test("keeps serving after the reader of stdout ended", async () => {
  const { child, ask, end } = await startChild("pipe");
  child.stdout?.destroy();
  for (const message of ["first", "second"]) expect(await ask(message)).toMatchObject({ message });
  expect(await end()).toEqual({ code: 0, stderr: "" });
});

test.skipIf(!existsSync("/dev/full"))("keeps serving while the disk of stdout is full", async () => {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const { ask, end } = await startChild(full);
  for (const message of ["first", "second"]) expect(await ask(message)).toMatchObject({ message });
  expect(await end()).toEqual({ code: 0, stderr: "" });
});
