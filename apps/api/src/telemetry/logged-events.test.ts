import { RpcFault } from "@causeway/chains";
import { createLogger } from "@causeway/service-kit";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loggedEvents } from "./logged-events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger(
    { name: "test", level: "info" },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const registry = new Registry();
  return { lines, registry, events: loggedEvents(log, registry) };
}

const refused = (method: string) =>
  new RpcFault({ kind: "network", method, reason: "connection refused (ECONNREFUSED)" });

test("an unreachable node is one line with a stack and one at its end, regardless of the failed call; every fault counts", async () => {
  const { lines, registry, events } = aLog();
  for (let second = 0; second < 60; second++) {
    events.fault("chain_fault", refused("eth_getBlockByNumber"), { chain: "base" });
    events.fault("chain_fault", new Error("2 payments failed", { cause: refused("eth_call") }), {
      chain: "base",
      part: "pulse",
    });
    vi.advanceTimersByTime(1_000);
  }
  vi.advanceTimersByTime(70_000);
  expect(lines).toHaveLength(2);
  const err = expect.objectContaining({ stack: expect.any(String) as unknown }) as unknown;
  expect(lines[0]).toMatchObject({ level: 50, event: "chain_fault", chain: "base", err });
  expect(lines[1]).toMatchObject({
    level: 30,
    event: "repeats_ended",
    of: "chain_fault",
    chain: "base",
    count: 120,
    seconds: 59,
  });
  expect(await registry.metrics()).toContain('causeway_events_total{event="chain_fault",level="error"} 120');
});

test("an outage hides neither another chain's outage nor a bug, and a bug does not hide another bug", () => {
  const { lines, events } = aLog();
  events.fault("chain_fault", refused("eth_call"), { chain: "base" });
  events.fault("chain_fault", refused("eth_call"), { chain: "optimism" });
  events.fault("chain_fault", new TypeError("undefined is not a function"), { chain: "base" });
  events.fault("chain_fault", new Error("invariant violated: negative amount -5"), { chain: "base" });
  events.fault("job_fault", new TypeError("undefined is not a function"), { job: "fill", jobId: "fill-1" });
  events.fault("job_fault", new TypeError("undefined is not a function"), { job: "fill", jobId: "fill-2" });
  expect(lines).toHaveLength(6);
});

test("an error with a different cause starts a new series, even if the same step failed", () => {
  const { lines, events } = aLog();
  const failed = (cause: Error) => new Error("Prices could not be read", { cause });
  for (let second = 0; second < 3; second++) {
    events.fault("price_fault", failed(new Error("HTTP 503")), {});
    events.fault("price_fault", failed(new Error("the API key is not accepted")), {});
  }
  expect(lines).toHaveLength(2);
});

test("logs a waiting request once per reason, not with every try", () => {
  const { lines, events } = aLog();
  for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 1_000) {
    const why = `Insufficient liquidity: ${5 + waitedMs} base units of USDC available`;
    events.alarm("fill_waits", { requestId: "0xa1", why, waitedMs });
    events.alarm("fill_waits", { requestId: "0xa2", why, waitedMs });
    vi.advanceTimersByTime(1_000);
  }
  events.alarm("fill_waits", { requestId: "0xa1", why: "the price is disputed", waitedMs: 20_000 });
  expect(lines.map(({ requestId, waitedMs }) => [requestId, waitedMs])).toEqual([
    ["0xa1", 0],
    ["0xa2", 0],
    ["0xa1", 20_000],
  ]);
});

test("writes other alarms each time", () => {
  const { lines, events } = aLog();
  for (let n = 0; n < 3; n++) events.alarm("deposit_unattributed", { txHash: "0x01" });
  expect(lines).toHaveLength(3);
});

test("a repeated fault shows no URL and no stack", () => {
  const { lines, events } = aLog();
  for (let minute = 0; minute <= 6; minute += 0.5) {
    events.fault("price_fault", new Error("GET https://prices.example/v1?key=S3CR3T failed"), {});
    vi.advanceTimersByTime(30_000);
  }
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ event: "price_fault", seconds: 300 });
  expect(JSON.stringify(lines[1])).not.toMatch(/S3CR3T|stack/);
});
