import { NodeRefusal, RpcFault, RateLimitShareExceeded } from "@causeway/chains";
import { ServiceError, type RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import { createPlanFaults } from "./plan-faults.ts";

const REQUEST = `0x${"01".repeat(32)}` as RequestId;
const OTHER_REQUEST = `0x${"02".repeat(32)}` as RequestId;
const FORGET_MS = 300_000;
const refusal = (nodeText: string) =>
  new NodeRefusal({ method: "debug_traceCall", nodeCode: -32_000, nodeText, nodeData: undefined });

test("adds up failures for the same reason, ignoring the numbers in their texts", () => {
  const faults = createPlanFaults();
  expect(faults.failedForMs(REQUEST, refusal("gas limit (30000000) is too much"), 1_000, FORGET_MS)).toBe(0);
  expect(faults.failedForMs(REQUEST, refusal("gas limit (29000000) is too much"), 61_000, FORGET_MS)).toBe(
    60_000,
  );
  expect(
    faults.failedForMs(OTHER_REQUEST, refusal("gas limit (29000000) is too much"), 62_000, FORGET_MS),
  ).toBe(0);
  expect(faults.failedForMs(REQUEST, refusal("gas limit (1) is too much"), 331_000, FORGET_MS)).toBe(330_000);
});

test("starts over after another reason, a successful plan or a long silence", () => {
  const faults = createPlanFaults();
  const timeout = new RpcFault({
    kind: "deadline",
    method: "eth_call",
    reason: "no complete response within 10000 ms",
  });
  faults.failedForMs(REQUEST, refusal("no"), 0, FORGET_MS);
  expect(faults.failedForMs(REQUEST, timeout, 1_000, FORGET_MS)).toBe(0);
  expect(faults.failedForMs(REQUEST, timeout, 2_000, FORGET_MS)).toBe(1_000);
  faults.clear(REQUEST);
  expect(faults.failedForMs(REQUEST, timeout, 3_000, FORGET_MS)).toBe(0);
  expect(faults.failedForMs(REQUEST, timeout, 303_001, FORGET_MS)).toBe(0);
});

test("counts price failures but not database failures", () => {
  const faults = createPlanFaults();
  const price = new ServiceError("PRICE_FETCH_FAILED", "no fresh price");
  faults.failedForMs(REQUEST, price, 0, FORGET_MS);
  expect(faults.failedForMs(REQUEST, price, 5, FORGET_MS)).toBe(5);
  expect(faults.failedForMs(REQUEST, new Error("connection terminated"), 5, FORGET_MS)).toBeUndefined();
});

test("ignores rate limits, pauses and used-up shares, without restarting another reason", () => {
  const faults = createPlanFaults();
  const pauses = [
    refusal("compute units per second exceeded"),
    new RpcFault({ kind: "http", method: "eth_call", reason: "60 seconds are left", isPause: true }),
    new RateLimitShareExceeded("preTransferCheck", { perMinute: 300, waitMs: 1_000 }),
  ];
  for (const pause of pauses) expect(faults.failedForMs(REQUEST, pause, 0, FORGET_MS)).toBeUndefined();
  faults.failedForMs(REQUEST, refusal("no"), 1_000, FORGET_MS);
  for (const pause of pauses) faults.failedForMs(REQUEST, pause, 2_000, FORGET_MS);
  expect(faults.failedForMs(REQUEST, refusal("no"), 3_000, FORGET_MS)).toBe(2_000);
});

test("remembers at most 10,000 requests", () => {
  const faults = createPlanFaults();
  faults.failedForMs(REQUEST, refusal("no"), 0, FORGET_MS);
  for (let n = 0; n < 10_000; n++)
    faults.failedForMs(`0x${n.toString(16).padStart(64, "0")}` as RequestId, refusal("no"), 1, FORGET_MS);
  expect(faults.failedForMs(REQUEST, refusal("no"), 2, FORGET_MS)).toBe(0);
});
