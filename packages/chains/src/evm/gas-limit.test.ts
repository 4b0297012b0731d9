import { expect, test } from "vitest";
import type { Address, CallFrame } from "@causeway/domain";
import { hasSameEffects, gasLimitsToTry } from "./gas-limit.ts";

const to: Address = `0x${"22".repeat(20)}`;

function createFrame(gas: bigint, gasUsed: bigint, calls: readonly CallFrame[] = []): CallFrame {
  const address: Address = `0x${"11".repeat(20)}`;
  return {
    type: "CALL",
    from: address,
    to,
    input: "0x12345678",
    output: "0x",
    gas,
    gasUsed,
    value: 0n,
    error: undefined,
    logs: [],
    calls,
  };
}

const PLENTY = 30_000_000n;

test("a call without inner calls needs the gas it uses, plus possible refunds", () => {
  const limits = gasLimitsToTry(createFrame(PLENTY, 100_000n), PLENTY);
  expect(limits).toEqual([100_000n, 125_001n, 200_000n, 400_000n, PLENTY]);
});

test("a caller keeps 1/64 of its remaining gas in each call", () => {
  const inner = createFrame((PLENTY * 63n) / 64n, 630_000n);
  const [min] = gasLimitsToTry(createFrame(PLENTY, 700_000n, [inner]), PLENTY);
  expect(min).toBe(710_001n);
  // The same applies to each caller above it.
  const deeper = createFrame(PLENTY, 800_000n, [createFrame((PLENTY * 63n) / 64n, 700_000n, [inner])]);
  expect(gasLimitsToTry(deeper, PLENTY)[0]).toBe(800_000n + 21_271n);
});

test("a call with an explicit limit needs all of it, used or not, and its caller a little more", () => {
  const inner = createFrame(500_000n, 40_000n);
  const [min] = gasLimitsToTry(createFrame(PLENTY, 90_000n, [inner]), PLENTY);
  expect(min).toBe(90_000n + (500_000n * 64n) / 63n + 1n - 40_000n + 12_000n);
});

test("the final refund of a transaction was not available to its last call, which has no explicit limit", () => {
  // 250,000 are used and 50,000 refunded; the last call gets all remaining gas except 1/64.
  const last = createFrame(((PLENTY - 250_000n) * 63n) / 64n, 9_000n);
  expect(gasLimitsToTry(createFrame(PLENTY, 200_000n, [last]), PLENTY)[0]).toBe(200_143n);
});

test("a call stipend is not an explicit limit", () => {
  const [min] = gasLimitsToTry(createFrame(PLENTY, 90_000n, [createFrame(2_300n, 100n)]), PLENTY);
  expect(min).toBe(90_002n);
});

test("never tries more gas than available, and finally all of it", () => {
  expect(gasLimitsToTry(createFrame(PLENTY, 100_000n), 130_000n)).toEqual([100_000n, 125_001n, 130_000n]);
  expect(gasLimitsToTry(createFrame(PLENTY, 100_000n), 90_000n)).toEqual([90_000n]);
});

test("two runs are equal if their calls, outcomes and logs are equal", () => {
  const log = { address: to, topics: [`0x${"01".repeat(32)}`], data: "0x01", position: 0 } as const;
  const base = { ...createFrame(PLENTY, 1n, [createFrame(1n, 1n)]), logs: [log] };
  expect(hasSameEffects(base, { ...base, gas: 1n, gasUsed: 2n, output: "0x99" })).toBe(true);
  // A contract may log its remaining gas.
  expect(hasSameEffects(base, { ...base, logs: [{ ...log, data: "0x02" }] })).toBe(true);
  for (const changed of [
    { ...base, error: "out of gas" },
    { ...base, calls: [] },
    { ...base, calls: [{ ...createFrame(1n, 1n), error: "out of gas" }] },
    { ...base, logs: [] },
    { ...base, logs: [{ ...log, topics: [`0x${"02".repeat(32)}` as const] }] },
    { ...base, type: "DELEGATECALL" },
    { ...base, to: undefined },
    { ...base, input: "0x87654321" as const },
  ]) {
    expect(hasSameEffects(base, changed)).toBe(false);
  }
});
