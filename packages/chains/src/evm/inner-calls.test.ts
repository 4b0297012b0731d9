import type { Address, CallFrame } from "@causeway/domain";
import { expect, test } from "vitest";
import { innerCallsOf } from "./inner-calls.ts";

const account: Address = `0x${"a1".repeat(20)}`;

function createFrame(change: Partial<CallFrame> = {}): CallFrame {
  return {
    type: "CALL",
    from: account,
    to: account,
    input: "0x",
    output: "0x",
    gas: 1n,
    gasUsed: 1n,
    value: 0n,
    error: undefined,
    logs: [],
    calls: [],
    ...change,
  };
}

test("reports calls at every depth, including failed ones, but not the value those would have moved", () => {
  const paying = createFrame({ value: 3n });
  const failed = createFrame({ value: 5n, error: "execution reverted", calls: [paying] });
  const calls = innerCallsOf(createFrame({ calls: [createFrame({ calls: [paying] }), failed] }));
  expect(calls.map(({ value }) => value)).toEqual([0n, 3n, 0n, 0n]);
});

test.each([
  ["CALL", 7n],
  ["SELFDESTRUCT", 7n],
  ["CREATE", 7n],
  ["DELEGATECALL", 0n],
  ["CALLCODE", 0n],
  ["STATICCALL", 0n],
])("a %s with a value of 7 moves %s to the called account", (type, value) => {
  expect(innerCallsOf(createFrame({ calls: [createFrame({ type, value: 7n })] }))).toMatchObject([{ value }]);
});

test("keeps data only if it looks like user operations", () => {
  const inputs = ["0x765e827f01", "0xDBED18E002", "0x1fad948c", "0x4b1d7cf5", "0xa9059cbb", "0x76"] as const;
  const calls = innerCallsOf(createFrame({ calls: inputs.map((input) => createFrame({ input })) }));
  expect(calls.map(({ userOperations }) => userOperations)).toEqual([
    ...inputs.slice(0, 4),
    undefined,
    undefined,
  ]);
});
