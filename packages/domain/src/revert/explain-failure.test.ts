import fc from "fast-check";
import {
  concat,
  encodeAbiParameters,
  encodeErrorResult,
  pad,
  parseAbi,
  toFunctionSelector,
  toHex,
} from "viem";
import { entryPoint07Abi, entryPoint08Abi } from "viem/account-abstraction";
import { expect, test } from "vitest";
import type { Address, Hex } from "../ids/hex.ts";
import type { CallFrame, PlacedLog } from "./call-frame.ts";
import { cleanText } from "./clean-text.ts";
import { decodeRevert } from "./decode-revert.ts";
import { explainFailure, explainRevertData, plainFailure } from "./explain-failure.ts";
import { readUserOperationEvent, USER_OPERATION_EVENT } from "./failed-user-operation.ts";
import { containsBytes } from "./contains-bytes.ts";
import { createKnownAbis } from "./known-abis.ts";
import { labelOfName, labelOfText, sentenceOfName } from "./labels.ts";
import { machineFailureOf } from "./machine-failure.ts";
import { panicOf } from "./panics.ts";
import { standardContracts } from "./standard-signatures.ts";

const abis = createKnownAbis();
const address = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;
const sender = address(0xacc);
const entryPoint = address(0xe9);

function aFrame(change: Partial<CallFrame> = {}): CallFrame {
  return {
    type: "CALL",
    from: address(1),
    to: address(2),
    input: "0x",
    output: "0x",
    gas: 100_000n,
    gasUsed: 50_000n,
    value: 0n,
    error: undefined,
    logs: [],
    calls: [],
    ...change,
  };
}

function reverted(change: Partial<CallFrame> = {}): CallFrame {
  return aFrame({ error: "execution reverted", ...change });
}

function errorString(text: string): Hex {
  return encodeErrorResult({ abi: parseAbi(["error Error(string)"]), args: [text] });
}

const invalidSignature: Hex = "0x8baa579f";

function explained(frame: CallFrame) {
  const failure = explainFailure(frame, abis);
  if (failure === undefined) throw new Error("no failure");
  return failure;
}

const pathOf = (frame: CallFrame) => explained(frame).details.path.map((step) => step.address);

test("a successful call has no failure", () => {
  expect(explainFailure(aFrame(), abis)).toBeUndefined();
  expect(explainFailure(aFrame({ calls: [reverted({ output: invalidSignature })] }), abis)).toBeUndefined();
});

test("finds the call whose reason was wrapped into another reason, at any position in the data", () => {
  const inner = reverted({ to: address(3), output: invalidSignature });
  const wrapped = encodeErrorResult({
    abi: parseAbi(["error CallFailed(bytes returnData)"]),
    args: [invalidSignature],
  });
  expect(pathOf(reverted({ output: wrapped, calls: [inner, aFrame()] }))).toEqual([address(2), address(3)]);
  // Four bytes that match only when shifted by half a byte.
  const shifted: Hex = `0x1234567${invalidSignature.slice(2)}0`;
  expect(pathOf(reverted({ output: shifted, calls: [inner, aFrame()] }))).toEqual([address(2)]);
});

test.each([
  { child: 8_192, calls: 8, what: "long reasons half a byte off" },
  { child: 2_048, calls: 64, what: "many of them" },
])("a contract cannot make the search take seconds with $what", ({ child, calls }) => {
  const hostile = (depth: number): CallFrame =>
    reverted({
      output: `0x${"0a".repeat(32_768)}`,
      calls: [
        ...(depth > 1 ? [hostile(depth - 1)] : []),
        // All different, and equal to the searched data at every position except for the last bytes.
        ...Array.from({ length: calls }, (_, index) =>
          reverted({
            output: `0x${(index % 2 === 0 ? "a0" : "0a").repeat(child)}${index.toString(16).padStart(4, "0")}`,
          }),
        ),
      ],
    });
  const frame = hostile(20);
  const startedAt = performance.now();
  explainFailure(frame, abis);
  expect(performance.now() - startedAt).toBeLessThan(500);
});

test("a path through callers that all revert with large data is read only in part", () => {
  const noise = (n: number): Hex => `0x12345678${n.toString(16).padStart(4, "0")}${"ab".repeat(30_000)}`;
  const otherCalls = Array.from({ length: 63 }, (_, index) => reverted({ output: noise(index + 1) }));
  let frame = reverted({ to: address(1_000), output: noise(0) });
  // Each one passes on all data of the one below plus a little of its own, after other calls that failed
  // differently.
  for (let index = 1; index < 1_000; index++)
    frame = reverted({
      to: address(index),
      output: `${noise(0)}${"cd".repeat(index % 2_000)}`,
      calls: [frame, ...otherCalls],
    });
  const startedAt = performance.now();
  expect(explained(frame).label).toBe("UNKNOWN_CUSTOM_ERROR_0x12345678");
  expect(performance.now() - startedAt).toBeLessThan(500);
});

test("of two calls that failed in the same way, the later one counts", () => {
  const equalFailures = [3, 4].map((n) => reverted({ to: address(n), output: invalidSignature }));
  expect(pathOf(reverted({ output: invalidSignature, calls: equalFailures }))).toEqual([
    address(2),
    address(4),
  ]);
});

test.each([
  "Multicall3: call failed",
  "Multicall aggregate: call failed",
  "TRANSFER_FROM_FAILED",
  "TransferHelper: TRANSFER_FAILED",
  "SafeERC20: low-level call failed",
  "STF",
  "GS013",
  "delegation failed",
])("skips a caller that only says %s", (text) => {
  const inner = reverted({ to: address(3), output: invalidSignature });
  const frame = reverted({ output: errorString(text), calls: [aFrame(), inner] });
  expect(explained(frame).label).toBe("INVALID_SIGNATURE");
  // Another call followed, so it did not cause the failure.
  const later = reverted({ output: errorString(text), calls: [inner, aFrame()] });
  expect(pathOf(later)).toEqual([address(2)]);
});

test("reports the caller if it reverts with its own reason after a caught failure", () => {
  const inner = reverted({ to: address(3), output: invalidSignature });
  const frame = reverted({ output: errorString("not enough"), calls: [inner] });
  expect(explained(frame)).toMatchObject({ label: "NOT_ENOUGH" });
  expect(pathOf(frame)).toEqual([address(2)]);
});

test("an invalid opcode after a failed call is not a failure of that call", () => {
  const inner = reverted({ to: address(3), output: invalidSignature });
  const frame = aFrame({ error: "invalid opcode: INVALID", calls: [inner] });
  expect(explained(frame).label).toBe("INVALID_OPCODE");
  expect(pathOf(frame)).toEqual([address(2)]);
});

test("uses the entry point's reason if the account gave none", () => {
  const output = encodeErrorResult({
    abi: entryPoint07Abi,
    errorName: "FailedOpWithRevert",
    args: [0n, "AA23 reverted", "0x"],
  });
  const frame = reverted({ output, calls: [reverted({ to: sender })] });
  expect(explained(frame).label).toBe("AA23_REVERTED");
  expect(pathOf(frame)).toEqual([address(2), sender]);
  const hungry = reverted({ output, calls: [aFrame({ to: sender, error: "out of gas" })] });
  expect(explained(hungry).label).toBe("OUT_OF_GAS");
});

function userOperationEvent(success: boolean, change: Partial<PlacedLog> = {}): PlacedLog {
  return {
    address: entryPoint,
    topics: [USER_OPERATION_EVENT, pad("0x01"), pad(sender), pad("0x")],
    data: concat([pad("0x07"), pad(success ? "0x01" : "0x00"), pad("0x"), pad("0x")]),
    position: 0,
    ...change,
  };
}

function handleOps(change: Partial<CallFrame>): CallFrame {
  return aFrame({ to: entryPoint, input: "0x765e827f", ...change });
}

test("an operation whose failure the trace does not show still counts as failed", () => {
  const failure = explained(handleOps({ logs: [userOperationEvent(false)] }));
  expect(failure).toMatchObject({
    label: "USER_OPERATION_FAILED",
    message: `The user operation of ${sender} failed`,
    details: { revert: { type: "empty", label: "USER_OPERATION_FAILED" } },
  });
  const later = handleOps({
    input: "0xdbed18e0",
    logs: [userOperationEvent(true), userOperationEvent(false)],
  });
  expect(explained(aFrame({ calls: [aFrame(), later] })).details.path).toHaveLength(2);
});

test("an event of another contract, a reverted event, or a caught call does not mean that an operation failed", () => {
  const foreign = handleOps({ logs: [userOperationEvent(false, { address: sender })] });
  expect(explainFailure(foreign, abis)).toBeUndefined();
  const undone = aFrame({
    calls: [{ ...handleOps({ logs: [userOperationEvent(false)] }), error: "execution reverted" }],
  });
  expect(explainFailure(undone, abis)).toBeUndefined();
  const fine = handleOps({ logs: [userOperationEvent(true)], calls: [reverted()] });
  expect(explainFailure(fine, abis)).toBeUndefined();
  const outside = aFrame({ to: entryPoint, logs: [userOperationEvent(false)] });
  expect(explainFailure(outside, abis)).toBeUndefined();
});

test("the path of an operation that was reverted after it ran leads into the entry point's inner call", () => {
  const inner = reverted({
    to: entryPoint,
    input: concat(["0x0042dc53", pad(sender)]),
    output: errorString("postOp says no"),
  });
  const failure = explained(handleOps({ logs: [userOperationEvent(false)], calls: [inner] }));
  expect(failure.label).toBe("POSTOP_SAYS_NO");
  expect(failure.details.innermost.function).toBe("EntryPoint.innerHandleOp");
});

test("shows both ends of a long path", () => {
  let frame = reverted({ to: address(1_000), output: invalidSignature });
  for (let index = 999; index > 0; index--)
    frame = reverted({ to: address(index), output: invalidSignature, calls: [frame] });
  const { details } = explained(frame);
  expect(details.path).toHaveLength(64);
  expect(details.topLevel.address).toBe(address(1));
  expect(details.innermost.address).toBe(address(1_000));
});

test("a failed creation has no selector and no address", () => {
  const failure = explained(
    reverted({ type: "CREATE", to: undefined, input: "0x6080604052", output: invalidSignature }),
  );
  expect(failure.details.topLevel).toEqual({
    type: "CREATE",
    error: "execution reverted",
    revertReason: "Invalid signature",
    gasUsed: "50000",
  });
});

test("a node's error without a trace is reported for the call as a whole", () => {
  const call = { from: address(1), to: address(2), input: "0xa9059cbb", value: 0n } as const;
  const failure = explainRevertData(call, { data: invalidSignature, reason: "execution reverted" }, abis);
  expect(failure.label).toBe("INVALID_SIGNATURE");
  expect(failure.details.path).toHaveLength(1);
  expect(failure.details.topLevel.function).toBe("transfer");
  expect(explainRevertData(call, { data: "0x", reason: "out of gas: 5" }, abis).label).toBe("OUT_OF_GAS");
  expect(explainRevertData(call, { data: "0x", reason: "execution reverted" }, abis).label).toBe(
    "EMPTY_REVERT",
  );
  expect(plainFailure(call, "NO_CODE_TO_CALL", "no code", abis)).toMatchObject({
    label: "NO_CODE_TO_CALL",
    details: { revert: { type: "empty", message: "no code" }, innermost: { function: "transfer" } },
  });
});

test("every selector matches its text: functions and errors are those of the published ABIs", () => {
  for (const abi of [entryPoint07Abi, entryPoint08Abi]) {
    for (const item of abi) {
      if (item.type === "error") {
        const text = `${item.name}(${item.inputs.map(({ type }) => type).join(",")})`;
        expect(
          abis.errorsOf(toFunctionSelector(text)).map(({ name }) => name),
          text,
        ).toContain(item.name);
      }
      if (
        item.type === "function" &&
        ["handleOps", "handleAggregatedOps", "innerHandleOp"].includes(item.name)
      ) {
        expect(abis.functionOf(toFunctionSelector(item), undefined)).toEqual({
          name: item.name,
          contract: "EntryPoint",
        });
      }
    }
  }
  // In the format of block explorers.
  for (const [selector, name] of [
    ["0xa9059cbb", "transfer"],
    ["0x23b872dd", "transferFrom"],
    ["0x095ea7b3", "approve"],
    ["0xd505accf", "permit"],
    ["0xe3ee160e", "transferWithAuthorization"],
    ["0x174dea71", "aggregate3Value"],
    ["0x82ad56cb", "aggregate3"],
    ["0x30f28b7a", "permitTransferFrom"],
    ["0x765e827f", "handleOps"],
    ["0xdbed18e0", "handleAggregatedOps"],
    ["0x0042dc53", "innerHandleOp"],
    ["0xe9ae5c53", "execute"],
    ["0xb61d27f6", "execute"],
    ["0x34fcd5be", "executeBatch"],
    ["0xcef6d209", "redeemDelegations"],
    ["0x1626ba7e", "isValidSignature"],
    ["0x6a761202", "execTransaction"],
    ["0xac9650d8", "multicall"],
    ["0xa22cb465", "setApprovalForAll"],
    ["0xd0e30db0", "deposit"],
    ["0x2e1a7d4d", "withdraw"],
  ] as const) {
    expect(abis.functionOf(selector, undefined)?.name, selector).toBe(name);
  }
  for (const [selector, name] of [
    ["0x8baa579f", "InvalidSignature"],
    ["0xe450d38c", "ERC20InsufficientBalance"],
    ["0xfb8f41b2", "ERC20InsufficientAllowance"],
    ["0x815e1d64", "InvalidSigner"],
    ["0x756688fe", "InvalidNonce"],
    ["0xcd21db4f", "SignatureExpired"],
    ["0x118cdaa7", "OwnableUnauthorizedAccount"],
    ["0x5274afe7", "SafeERC20FailedOperation"],
    ["0x220266b6", "FailedOp"],
    ["0x65c8fd4d", "FailedOpWithRevert"],
    ["0x82b42900", "Unauthorized"],
  ] as const) {
    expect(
      abis.errorsOf(selector).map((error) => error.name),
      selector,
    ).toContain(name);
  }
  expect(standardContracts().flatMap(({ abi }) => abi).length).toBeGreaterThan(200);
});

test("a function of several contracts is named without one, unless the address identifies it", () => {
  const abi = parseAbi(["function poke()"]);
  const twoContracts = createKnownAbis([
    { name: "One", abi, addresses: [address(7)] },
    { name: "Two", abi },
  ]);
  const selector = toFunctionSelector("poke()");
  expect(twoContracts.functionOf(selector, undefined)).toEqual({ name: "poke", contract: undefined });
  expect(twoContracts.functionOf(selector, address(7))).toEqual({ name: "poke", contract: "One" });
  expect(twoContracts.contractAt(address(7))).toBe("One");
  expect(createKnownAbis([{ name: "Two", abi }]).functionOf(selector, address(9))).toEqual({
    name: "poke",
    contract: "Two",
  });
});

test.each([
  ["InvalidSignature", "INVALID_SIGNATURE", "Invalid signature"],
  ["ERC20InsufficientBalance", "ERC20_INSUFFICIENT_BALANCE", "ERC20 insufficient balance"],
  ["ETHTransferFailed", "ETH_TRANSFER_FAILED", "ETH transfer failed"],
  ["UUPSUnauthorizedCallContext", "UUPS_UNAUTHORIZED_CALL_CONTEXT", "UUPS unauthorized call context"],
  ["CannotUseADisabledDelegation", "CANNOT_USE_A_DISABLED_DELEGATION", "Cannot use a disabled delegation"],
  ["TRANSFER_FAILED", "TRANSFER_FAILED", "TRANSFER FAILED"],
])("converts an error's name into words: %s", (name, label, sentence) => {
  expect(labelOfName(name)).toBe(label);
  expect(sentenceOfName(name)).toBe(sentence);
});

test.each([
  ["AA21 didn't pay prefund", "AA21_DIDNT_PAY_PREFUND"],
  ["  !! ", undefined],
  ["123", undefined],
  ["x".repeat(200), undefined],
  [`first ${"x".repeat(200)}`, "FIRST"],
])("converts a text into a label of bounded length: %s", (text, label) => {
  expect(labelOfText(text)).toBe(label);
});

test.each([
  ["out of gas", "OUT_OF_GAS"],
  ["OutOfGas(Basic)", "OUT_OF_GAS"],
  ["invalid opcode: opcode 0xfe not defined", "INVALID_OPCODE"],
  ["stack limit reached 1024 (1023)", "STACK_OVERFLOW"],
  ["stack underflow (0 <=> 1)", "STACK_UNDERFLOW"],
  ["invalid jump destination", "INVALID_JUMP"],
  ["write protection", "STATE_CHANGE_IN_STATIC_CALL"],
  ["insufficient balance for transfer", "INSUFFICIENT_NATIVE_BALANCE"],
  ["max call depth exceeded", "CALL_TOO_DEEP"],
  ["contract address collision", "CONTRACT_ADDRESS_COLLISION"],
  ["max code size exceeded", "CODE_TOO_LARGE"],
  ["execution reverted", undefined],
  ["an unknown failure", undefined],
  [undefined, undefined],
])("recognizes a node's text for an EVM failure: %s", (error, label) => {
  expect(machineFailureOf(error)?.label).toBe(label);
});

test("finds bytes exactly where they are, at whole bytes", () => {
  const bytes = fc.array(fc.constantFrom(0, 1, 0x10, 0xff), { maxLength: 40 });
  fc.assert(
    fc.property(bytes, bytes, (outer, inner) => {
      const isThere = `,${outer.join(",")},`.includes(`,${inner.join(",")}${inner.length > 0 ? "," : ""}`);
      expect(containsBytes(Uint8Array.from(outer), Uint8Array.from(inner))).toBe(isThere);
    }),
    { numRuns: 2_000 },
  );
});

test("an unknown panic keeps its code", () => {
  expect(panicOf(0x99n)).toEqual({ label: "PANIC_UNKNOWN", message: "Unknown panic (0x99)" });
});

test("decoding never throws for any revert data, and its output is bounded and printable", () => {
  const selectors = ["0x08c379a0", "0x4e487b71", "0x220266b6", "0x65c8fd4d", "0xe450d38c", "0x"] as const;
  const data = fc
    .tuple(fc.constantFrom(...selectors), fc.uint8Array({ maxLength: 400 }))
    .map(([selector, bytes]) => concat([selector, toHex(bytes)]));
  fc.assert(
    fc.property(data, (hex) => {
      const revert = decodeRevert(hex, abis);
      expect(revert.label).toMatch(/^[A-Z][A-Z0-9_]*(?:0x[0-9a-f]{8})?$/);
      const texts = [revert.message, ...Object.values(revert.args ?? {})];
      for (const text of texts) expect(text).not.toMatch(/[\p{C}\n]/u);
      expect(revert.message).not.toBe("");
    }),
  );
});

test("truncates and cleans texts of any kind and length", () => {
  const text = fc
    .array(fc.integer({ min: 0, max: 0x10_ffff }), { maxLength: 700 })
    .map((points) => String.fromCodePoint(...points));
  fc.assert(
    fc.property(text, (contractText) => {
      const clean = cleanText(contractText);
      return clean.length <= 256 && !/[\p{C}\p{Zl}\p{Zp}\n\t]/u.test(clean);
    }),
  );
});

test("truncates the arguments of an error, regardless of their length", () => {
  const abi = parseAbi(["error Big(string text, bytes raw, (uint256 a, address b)[] list)"]);
  const list = Array.from({ length: 100 }, (_, index) => ({ a: BigInt(index), b: address(index) }));
  const output = encodeErrorResult({ abi, args: ["y".repeat(3_000), `0x${"ab".repeat(3_000)}`, list] });
  const withBig = createKnownAbis([{ name: undefined, abi }]);
  const { args } = decodeRevert(output, withBig);
  expect(args?.["text"]).toHaveLength(256);
  expect(args?.["raw"]).toBe(`0x${"ab".repeat(256)}…`);
  expect(args?.["list"]).toMatch(/^\[\{"a":"0","b":"0x0{40}"\},/);
  expect(args?.["list"]?.length).toBeLessThanOrEqual(1_024);
  const huge = encodeAbiParameters([{ type: "string" }], ["z".repeat(100_000)]);
  const revert = decodeRevert(concat(["0x08c379a0", huge]), abis);
  expect(revert.type).toBe("unknownCustomError");
  expect(revert.rawArgsHex?.length).toBeLessThan(8_300);
});

test("reads events of an entry point, and nothing else", () => {
  expect(readUserOperationEvent(userOperationEvent(false))).toEqual({
    userOpHash: pad("0x01"),
    sender,
    success: false,
  });
  expect(readUserOperationEvent({ address: entryPoint, topics: [], data: "0x" })).toBeUndefined();
  expect(readUserOperationEvent(userOperationEvent(true, { data: "0x1234" }))).toBeUndefined();
});
