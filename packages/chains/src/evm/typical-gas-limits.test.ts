import { expect, test } from "vitest";
import type { Address, CallFrame } from "@causeway/domain";
import { provesLimit, roundUpGas } from "./typical-gas-limits.ts";

const to: Address = `0x${"22".repeat(20)}`;

function createFrame(gas: bigint, gasUsed: bigint, fields: Partial<CallFrame> = {}): CallFrame {
  return {
    type: "CALL",
    from: to,
    to,
    input: "0x12345678",
    output: "0x",
    gas,
    gasUsed,
    value: 0n,
    error: undefined,
    logs: [],
    calls: [],
    ...fields,
  };
}

test("a run proves its limit if nothing in it failed, at any depth", () => {
  expect(provesLimit(createFrame(100_000n, 90_000n), 100_000n)).toBe(true);
  const failed = createFrame(80_000n, 80_000n, { error: "out of gas" });
  const caller = createFrame(90_000n, 85_000n, { calls: [failed] });
  expect(provesLimit(createFrame(100_000n, 95_000n, { calls: [caller] }), 100_000n)).toBe(false);
});

test("a run does not prove a limit far above its need", () => {
  expect(provesLimit(createFrame(150_000n, 100_000n), 150_000n)).toBe(true);
  expect(provesLimit(createFrame(151_000n, 100_000n), 151_000n)).toBe(false);
});

test("rounds limits up by at most 1/32", () => {
  expect([21_000n, 65_536n, 65_537n, 100_000n].map(roundUpGas)).toEqual([
    21_504n,
    65_536n,
    67_584n,
    100_352n,
  ]);
});
