import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
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

test("removes secrets of child loggers, of lists and deep inside an object", () => {
  const text = logged((log) =>
    log.child({ apiKey: "s3cret", part: "x" }).info({
      chains: [{ endpoints: { first: { wsRpcUrl: { url: "s3cret" } } } }],
      note: 'quotes "apiKey": as text',
    }),
  );
  expect(text).not.toContain("s3cret");
  expect(text.endsWith("}\n")).toBe(true);
  expect(JSON.parse(text)).toMatchObject({
    apiKey: "[secret]",
    part: "x",
    chains: [{ endpoints: { first: { wsRpcUrl: "[secret]" } } }],
    note: 'quotes "apiKey": as text',
  });
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
])("%s is logged as %s", ([text, redacted]) => {
  expect(withoutUrlSecrets(text ?? "")).toBe(redacted);
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
