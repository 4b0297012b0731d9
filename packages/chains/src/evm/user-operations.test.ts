import { encodeFunctionData, concat, pad, toFunctionSelector, toHex, zeroAddress } from "viem";
import { entryPoint06Abi, entryPoint07Abi, entryPoint08Abi } from "viem/account-abstraction";
import { expect, test } from "vitest";
import { USER_OPERATION_EVENT, type Address, type Hex } from "@causeway/domain";
import {
  findInnerOperationRefusal,
  findUserOperationRefusal,
  isEntryPoint,
  readHandleOps,
  findFailedOperations,
} from "./user-operations.ts";

const sender: Address = `0x${"a1".repeat(20)}`;
const otherSender: Address = `0x${"b2".repeat(20)}`;
const beneficiary: Address = `0x${"bf".repeat(20)}`;
const entryPoint: Address = "0x0000000071727de22e5e9d8baf0edac6f37da032";

function createOp(change: { sender?: Address; maxFee?: bigint; priorityFee?: bigint; paymaster?: Hex } = {}) {
  const { maxFee = 0n, priorityFee = 0n } = change;
  return {
    sender: change.sender ?? sender,
    nonce: 7n,
    initCode: "0x",
    callData: "0x1234",
    accountGasLimits: pad("0x01"),
    preVerificationGas: 21_000n,
    gasFees: concat([toHex(priorityFee, { size: 16 }), toHex(maxFee, { size: 16 })]),
    paymasterAndData: change.paymaster ?? "0x",
    signature: "0x99",
  } as const;
}

function handleOps(ops: readonly ReturnType<typeof createOp>[]): Hex {
  return encodeFunctionData({ abi: entryPoint08Abi, functionName: "handleOps", args: [ops, beneficiary] });
}

test("reads operations of entry points 0.7 and 0.8 the same way", () => {
  const data = handleOps([
    createOp(),
    createOp({ sender: otherSender, maxFee: 5n, priorityFee: 3n, paymaster: otherSender }),
  ]);
  const read = {
    kind: "read",
    version: "0.7/0.8",
    beneficiary,
    ops: [
      { sender, nonce: 7n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, hasPaymaster: false },
      { sender: otherSender, nonce: 7n, maxFeePerGas: 5n, maxPriorityFeePerGas: 3n, hasPaymaster: true },
    ],
  };
  expect(readHandleOps(data)).toEqual(read);
  const abi = entryPoint07Abi;
  const same = encodeFunctionData({ abi, functionName: "handleOps", args: [[createOp()], beneficiary] });
  expect(readHandleOps(same)).toEqual({ ...read, ops: read.ops.slice(0, 1) });
});

test("counts operations across aggregators", () => {
  const groups = [
    { userOps: [createOp()], aggregator: otherSender, signature: "0x" },
    {
      userOps: [createOp(), createOp({ sender: otherSender, maxFee: 1n })],
      aggregator: zeroAddress,
      signature: "0x",
    },
  ] as const;
  const args = [groups, beneficiary] as const;
  const data = encodeFunctionData({ abi: entryPoint07Abi, functionName: "handleAggregatedOps", args });
  const read = readHandleOps(data);
  expect(read).toMatchObject({ kind: "read", ops: [{ sender }, { sender }, { sender: otherSender }] });
  expect(read && findUserOperationRefusal(read)).toMatchObject({
    kind: "hasFees",
    index: 2,
    sender: otherSender,
  });
});

test.each([
  ["a max fee", { maxFee: 1n }, "maxFeePerGas"],
  ["a priority fee", { priorityFee: 1n }, "maxPriorityFeePerGas"],
  ["both", { maxFee: 2n ** 127n, priorityFee: 1n }, "maxFeePerGas"],
])("refuses an operation with %s and reports which one", (_, fees, name) => {
  const read = readHandleOps(handleOps([createOp(), createOp({ sender: otherSender, ...fees })]));
  expect(read && findUserOperationRefusal(read)).toEqual({
    kind: "hasFees",
    index: 1,
    sender: otherSender,
    message: `${name} of user operation 1 must be 0, because the sponsor pays its gas`,
  });
});

test("accepts operations without fees", () => {
  const read = readHandleOps(handleOps([createOp(), createOp()]));
  expect(read && findUserOperationRefusal(read)).toBeUndefined();
});

test("refuses unreadable operations", () => {
  const names = ["handleOps", "handleAggregatedOps"] as const;
  for (const name of names) {
    const item = entryPoint06Abi.find((entry) => entry.type === "function" && entry.name === name);
    if (item?.type !== "function") throw new Error("the ABI changed");
    const read = readHandleOps(`${toFunctionSelector(item)}00`);
    expect(read).toEqual({ kind: "unsupported", version: "0.6" });
    expect(read && findUserOperationRefusal(read)).toMatchObject({ kind: "unsupported" });
  }
  const truncated = readHandleOps(handleOps([createOp()]).slice(0, -200) as Hex);
  expect(truncated).toEqual({ kind: "malformed" });
  expect(truncated && findUserOperationRefusal(truncated)).toMatchObject({ kind: "malformed" });
  const none = readHandleOps(handleOps([]));
  expect(none && findUserOperationRefusal(none)).toMatchObject({ kind: "none" });
});

test("ignores other calldata", () => {
  expect(readHandleOps("0x")).toBeUndefined();
  expect(readHandleOps("0xa9059cbb00")).toBeUndefined();
});

test("finds failed operations only by the entry point's own events", () => {
  const event = (address: Address, success: boolean, hash: string) => ({
    address,
    topics: [USER_OPERATION_EVENT, `0x${hash.repeat(32)}`, pad(sender), pad("0x")] as Hex[],
    data: concat([pad("0x07"), pad(success ? "0x01" : "0x00"), pad("0x"), pad("0x")]),
  });
  const logs = [
    event(entryPoint, true, "01"),
    event(entryPoint, false, "02"),
    event(otherSender, false, "03"),
    { ...event(entryPoint, false, "04"), data: "0x" as Hex },
  ];
  expect(findFailedOperations(logs, entryPoint)).toEqual([
    { userOpHash: `0x${"02".repeat(32)}`, sender, success: false },
  ]);
});

test("checks each operation in inner calls, up to the number that fits in one transaction", () => {
  const free = handleOps([createOp()]);
  const findRefusal = (...operations: readonly Hex[]) =>
    findInnerOperationRefusal([
      { userOperations: undefined },
      ...operations.map((userOperations) => ({ userOperations })),
    ]);
  expect(findRefusal()).toBeUndefined();
  expect(findRefusal(free, handleOps([createOp({ sender: otherSender })]))).toBeUndefined();
  expect(findRefusal(free, handleOps([createOp({ maxFee: 1n })]))).toMatchObject({ kind: "hasFees", sender });
  expect(findRefusal(free, "0x1fad948c")).toMatchObject({ kind: "unsupported" });
  const large = Array.from({ length: 200 }, () => createOp());
  expect(findRefusal(handleOps(large))).toBeUndefined();
  const tooMany = [
    handleOps(large),
    handleOps([...large, createOp()]),
    handleOps([...large, createOp(), createOp()]),
  ];
  expect(findRefusal(...tooMany)).toMatchObject({ kind: "malformed" });
  // The same data passed between contracts is read once.
  expect(findRefusal(...Array.from({ length: 100 }, () => handleOps(large)))).toBeUndefined();
});

test("identifies supported entry points by their addresses", () => {
  expect(isEntryPoint(entryPoint)).toBe(true);
  expect(isEntryPoint("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108")).toBe(true);
  expect(isEntryPoint(otherSender)).toBe(false);
});
