import { expect, test } from "vitest";
import type { Address, Hex } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import { logsOf, MAX_FRAMES, readCallFrame, readStateDiff } from "./trace-answers.ts";

const account: Address = `0x${"a1".repeat(20)}`;
const otherAccount: Address = `0x${"b2".repeat(20)}`;
const code: Hex = "0x6001";

function createTrace(change: object = {}): object {
  return {
    type: "CALL",
    from: account,
    to: otherAccount,
    gas: "0x64",
    gasUsed: "0x32",
    input: "0x",
    ...change,
  };
}

function log(data: Hex, position?: number): object {
  return {
    address: otherAccount,
    topics: [],
    data,
    ...(position !== undefined && { position: `0x${position.toString(16)}` }),
  };
}

test("reads a frame with missing fields as empty, and addresses in lower case", () => {
  expect(
    readCallFrame({ ...createTrace(), to: otherAccount.toUpperCase().replace("0X", "0x"), error: "" }),
  ).toEqual({
    type: "CALL",
    from: account,
    to: otherAccount,
    input: "0x",
    output: "0x",
    gas: 100n,
    gasUsed: 50n,
    value: 0n,
    error: undefined,
    logs: [],
    calls: [],
  });
  expect(readCallFrame(createTrace({ type: "CREATE", to: null })).to).toBeUndefined();
});

test.each([
  ["no type", { type: undefined }],
  ["no sender", { from: "0x12" }],
  ["gas that is not a number", { gas: "much" }],
  ["an error that is not a string", { error: 5 }],
  ["calls that are not a list", { calls: {} }],
  ["a call that is not an object", { calls: ["0x"] }],
  ["invalid bytes", { output: "0xabc" }],
  ["logs without an address", { logs: [{ topics: [], data: "0x" }] }],
])("a frame with %s is a fault", (_, change) => {
  expect(() => readCallFrame(createTrace(change))).toThrow(RpcFault);
});

test("refuses too many calls as too large, and calls deeper than the EVM allows as garbage", () => {
  const many = createTrace({ calls: Array.from({ length: MAX_FRAMES }, () => createTrace()) });
  expect(() => readCallFrame(many)).toThrow(expect.objectContaining({ kind: "tooLarge" }));
  let deep = createTrace();
  for (let depth = 0; depth < 1_100; depth++) deep = createTrace({ calls: [deep] });
  expect(() => readCallFrame(deep)).toThrow(expect.objectContaining({ kind: "garbage" }));
});

test("returns logs in order of emission, without reverted ones", () => {
  const frame = readCallFrame(
    createTrace({
      logs: [log("0x05", 2), log("0x01", 0), log("0x03", 1)],
      calls: [
        createTrace({ logs: [log("0x02", 0)] }),
        createTrace({
          logs: [log("0x04", 0)],
          calls: [createTrace({ error: "execution reverted", logs: [log("0x99")] })],
        }),
        createTrace({
          error: "out of gas",
          logs: [log("0x98")],
          calls: [createTrace({ logs: [log("0x97")] })],
        }),
      ],
    }),
  );
  expect(logsOf(frame).map(({ data }) => data)).toEqual(["0x01", "0x02", "0x03", "0x04", "0x05"]);
});

test("reads changes; omitted fields did not change", () => {
  const changes = readStateDiff({
    pre: { [account]: { balance: "0x5", nonce: 7, code }, [otherAccount]: { balance: "0x0" } },
    post: { [account]: { balance: "0x3" }, [otherAccount]: { nonce: "0x1", code } },
  });
  expect(changes.get(account)).toEqual({
    balanceBefore: 5n,
    balanceAfter: 3n,
    nonceBefore: 7n,
    nonceAfter: 7n,
    codeChanged: false,
  });
  expect(changes.get(otherAccount)).toEqual({
    balanceBefore: 0n,
    balanceAfter: 0n,
    nonceBefore: 0n,
    nonceAfter: 1n,
    codeChanged: true,
  });
});

test("an account that is missing afterwards was deleted, and one that was missing before is new", () => {
  const changes = readStateDiff({
    pre: { [account]: { balance: "0x5", nonce: 1, code } },
    post: { [otherAccount]: { balance: "0x5" } },
  });
  expect(changes.get(account)).toMatchObject({ balanceAfter: 0n, nonceAfter: 0n, codeChanged: true });
  expect(changes.get(otherAccount)).toMatchObject({
    balanceBefore: 0n,
    balanceAfter: 5n,
    codeChanged: false,
  });
});

test.each([
  ["no accounts before", { post: {} }],
  ["a key that is not an address", { pre: {}, post: { bob: {} } }],
  ["a balance that is not a number", { pre: {}, post: { [account]: { balance: 5 } } }],
  ["a nonce below zero", { pre: {}, post: { [account]: { nonce: -1 } } }],
])("a change with %s is a fault", (_, diff) => {
  expect(() => readStateDiff(diff)).toThrow(RpcFault);
});
