import { encodeErrorResult, keccak256, toEventSelector, toFunctionSelector, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { callRequestTypes, depositoryAbi } from "./index.ts";

// The selectors and hashes that depositors, allocators and oracles already use for a depository.

const selectors = new Map(
  depositoryAbi
    .filter((item) => item.type === "function")
    .map((item) => [toFunctionSelector(item), item.name] as const),
);

describe("the depository keeps its published interface", () => {
  test.each([
    ["0x49290c1c", "depositNative"],
    ["0xe8017952", "depositErc20"],
    ["0x5a1ee3ac", "depositErc20"],
    ["0x2d9fb478", "execute"],
    ["0xbf83f2a2", "setAllocator"],
    ["0xaa5dcecc", "allocator"],
    ["0xd52bfcc8", "callRequests"],
  ] as const)("%s is %s", (selector, name) => {
    expect(selectors.get(selector)).toBe(name);
  });

  test.each([
    ["CallRequestExpired", "0x68b8a4da"],
    ["InvalidSignature", "0x8baa579f"],
    ["CallRequestAlreadyUsed", "0x49482b28"],
    ["AddressCannotBeZero", "0xe622e040"],
  ] as const)("error %s() is %s", (errorName, selector) => {
    expect(encodeErrorResult({ abi: depositoryAbi, errorName })).toBe(selector);
  });

  test("error CallFailed(bytes) is 0xa5fa8d2b", () => {
    const data = encodeErrorResult({ abi: depositoryAbi, errorName: "CallFailed", args: ["0x"] });
    expect(data.slice(0, 10)).toBe("0xa5fa8d2b");
  });

  test.each([
    ["NativeDeposit", "NativeDeposit(address,uint256,bytes32)"],
    ["Erc20Deposit", "Erc20Deposit(address,address,uint256,bytes32)"],
    ["CallExecuted", "CallExecuted(bytes32,(address,bytes,uint256,bool))"],
  ])("event %s has its topic and no indexed field", (name, signature) => {
    const event = depositoryAbi.find((item) => item.type === "event" && item.name === name);
    if (event?.type !== "event") throw new Error(`no event ${name}`);
    expect(toEventSelector(event)).toBe(keccak256(toHex(signature)));
    expect(event.inputs.filter((input) => input.indexed)).toEqual([]);
  });

  test("the typed-data tables hash to the published type hashes", () => {
    const encode = (name: keyof typeof callRequestTypes): string =>
      `${name}(${callRequestTypes[name].map((field) => `${field.type} ${field.name}`).join(",")})`;
    expect(keccak256(toHex(encode("Call")))).toBe(
      "0xd5395b56326912498477b4b3e987bcd306e0ea8d9f9e41e3563c6176a7bc2f65",
    );
    expect(keccak256(toHex(encode("CallRequest") + encode("Call")))).toBe(
      "0x1dcae8e357e31cf00a7777284e6f769bb6d19654688c9665de5fea6f35f5357c",
    );
  });
});
