import {
  concat,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  pad,
  parseAbi,
  toHex,
  type ContractFunctionArgs,
  type ContractFunctionName,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failuresAbi, failuresBytecode, multicall3Abi, routerAbi, testTokenAbi } from "@causeway/contracts";
import type { Address, Hex, SimulationFailure } from "@causeway/domain";
import { mined, solver, startEvmWorld, user, type EvmWorld } from "../../test/chain.ts";
import type { ChainReader, TracedCall, TraceOutcome } from "@causeway/families/evm";
import { connectEvmChain, type EvmConnection } from "./connect.ts";

const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const from = user.address.toLowerCase() as Address;

let world: EvmWorld;
let connection: EvmConnection;
let reader: ChainReader;
let failures: Address;
let innerTarget: Address;

beforeAll(async () => {
  world = await startEvmWorld(31_031);
  connection = connectEvmChain(world.chain);
  reader = connection.reader;
  failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
  innerTarget = await world.wallet.deploy(failuresAbi, failuresBytecode);
}, 30_000);
afterAll(async () => {
  await connection.close();
  await world.node.stop();
});

type Name = ContractFunctionName<typeof failuresAbi>;

function encode<N extends Name>(
  functionName: N,
  args: ContractFunctionArgs<typeof failuresAbi, "nonpayable" | "payable" | "pure" | "view", N>,
): Hex {
  return encodeFunctionData({ abi: failuresAbi, functionName, args } as Parameters<
    typeof encodeFunctionData
  >[0]);
}

async function trace(call: Partial<TracedCall>): Promise<TraceOutcome> {
  return await reader.trace(from, { to: failures, data: "0x", value: 0n, ...call }, fees);
}

/** Why the call fails. */
async function failureOf(data: Hex, call: Partial<TracedCall> = {}): Promise<SimulationFailure> {
  const outcome = await trace({ data, ...call });
  if (outcome.kind !== "reverts") throw new Error(`not a failure: ${outcome.kind}`);
  return outcome.failure;
}

async function successOf(data: Hex, call: Partial<TracedCall> = {}) {
  const outcome = await trace({ data, ...call });
  if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
  return outcome;
}

function throughMulticall(target: Address, callData: Hex): Hex {
  return encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3Value",
    args: [[{ target, allowFailure: false, value: 0n, callData }]],
  });
}

describe("the reason of a failed call", () => {
  test.each([
    ["addTo", [1n], "PANIC_ARITHMETIC_OVERFLOW", "Arithmetic overflow or underflow (0x11)"],
    ["divideBy", [0n], "PANIC_DIVISION_BY_ZERO", "Division or modulo by zero (0x12)"],
    ["elementAt", [9n], "PANIC_ARRAY_INDEX_OUT_OF_BOUNDS", "Array index out of bounds (0x32)"],
    ["popFromEmpty", [], "PANIC_POP_ON_EMPTY_ARRAY", "Pop on an empty array (0x31)"],
    ["choose", [7n], "PANIC_INVALID_ENUM_VALUE", "Value is not a member of the enum (0x21)"],
    ["assertFalse", [], "PANIC_ASSERTION_FAILED", "Assertion failed (0x01)"],
    ["allocate", [2n ** 64n], "PANIC_OUT_OF_MEMORY", "Too much memory allocated (0x41)"],
    ["callUnset", [], "PANIC_UNINITIALIZED_FUNCTION", "Call of a zero-initialized function (0x51)"],
  ] as const)("a panic by its code: %s", async (name, args, label, message) => {
    const failure = await failureOf(encode(name, args as never));
    expect(failure).toMatchObject({ label, message });
    expect(failure.details.revert).toMatchObject({ type: "panic", label, message, selector: "0x4e487b71" });
    expect(failure.details.revert.args).toEqual({ code: /0x\d+/.exec(message)?.[0] });
  });

  test("is a plain text, with a label derived from it", async () => {
    const failure = await failureOf(encode("say", ["ERC20: transfer amount exceeds balance"]));
    expect(failure.details.revert).toEqual({
      type: "errorString",
      label: "ERC20_TRANSFER_AMOUNT_EXCEEDS_BALANCE",
      message: "ERC20: transfer amount exceeds balance",
      selector: "0x08c379a0",
    });
  });

  test("limits a contract's text to one printable line of limited length", async () => {
    const hostile = `fine\n\u0000{"level":"fatal"}\u202Eevil\u200B${"x".repeat(5_000)}`;
    const { label, message, details } = await failureOf(encode("say", [hostile]));
    expect(message.startsWith('fine {"level":"fatal"} evil x')).toBe(true);
    expect(message.length).toBeLessThanOrEqual(256);
    expect(label).toBe("FINE_LEVEL_FATAL_EVIL");
    expect(JSON.stringify(details).length).toBeLessThan(4_000);
    expect(await failureOf(encode("say", ["失敗"]))).toMatchObject({ label: "REVERTED", message: "失敗" });
  });

  test("is the name of an error without arguments", async () => {
    const failure = await failureOf(encode("refuseSignature", []));
    expect(failure).toMatchObject({ label: "INVALID_SIGNATURE", message: "Invalid signature" });
    expect(failure.details.revert).toEqual({
      type: "customError",
      label: "INVALID_SIGNATURE",
      message: "Invalid signature",
      selector: "0x8baa579f",
      name: "InvalidSignature",
    });
  });

  test("is a known error with its arguments", async () => {
    const abi = parseAbi(["error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)"]);
    const data = encodeErrorResult({
      abi,
      errorName: "ERC20InsufficientBalance",
      args: [solver.address, 3n, 2n ** 255n],
    });
    expect((await failureOf(encode("refuseWith", [data]))).details.revert).toEqual({
      type: "customError",
      label: "ERC20_INSUFFICIENT_BALANCE",
      message: "ERC20 insufficient balance",
      selector: "0xe450d38c",
      name: "ERC20InsufficientBalance",
      args: { sender: solver.address.toLowerCase(), balance: "3", needed: (2n ** 255n).toString() },
    });
  });

  test("is the selector of an unknown error, with its raw arguments", async () => {
    const failure = await failureOf(encode("refuseTooMuch", [5n, solver.address, "no"]));
    const args = encodeAbiParameters(
      [{ type: "uint256" }, { type: "address" }, { type: "string" }],
      [5n, solver.address, "no"],
    );
    const [selector] = /0x[0-9a-f]{8}$/.exec(failure.label) ?? [];
    expect(failure.label).toBe(`UNKNOWN_CUSTOM_ERROR_${selector}`);
    expect(failure.details.revert).toEqual({
      type: "unknownCustomError",
      label: failure.label,
      message: `Unknown custom error ${selector}`,
      selector,
      rawArgsHex: args,
    });
    const bare = await failureOf(encode("refuseWith", ["0xdeadbeef"]));
    expect(bare.details.revert).toEqual({
      type: "unknownCustomError",
      label: "UNKNOWN_CUSTOM_ERROR_0xdeadbeef",
      message: "Unknown custom error 0xdeadbeef",
      selector: "0xdeadbeef",
    });
  });

  test("treats malformed data of a known error as unknown", async () => {
    for (const data of ["0x08c379a0ff", "0x4e487b71", concat(["0x4e487b71", pad("0x11"), "0x00"])] as const) {
      const { revert } = (await failureOf(encode("refuseWith", [data]))).details;
      expect(revert.type, data).toBe("unknownCustomError");
    }
    expect((await failureOf(encode("refuseWith", ["0x0102"]))).details.revert).toMatchObject({
      type: "unknownCustomError",
      label: "UNKNOWN_REVERT_DATA",
      rawArgsHex: "0x0102",
    });
  });

  test("is empty if the call returned none", async () => {
    const failure = await failureOf(encode("refuseWith", ["0x"]));
    expect(failure.label).toBe("EMPTY_REVERT");
    expect(failure.details.revert).toEqual({
      type: "empty",
      label: "EMPTY_REVERT",
      message: "Reverted without a reason",
    });
  });

  test.each([
    ["an invalid opcode", "0xfe", "INVALID_OPCODE"],
    ["a stack that underflows", "0x50", "STACK_UNDERFLOW"],
    ["a stack that overflows", "0x5b60005f56", "STACK_OVERFLOW"],
    ["a jump to nowhere", "0x600456", "INVALID_JUMP"],
    ["a read beyond the returned data", "0x602060005f3e", "RETURN_DATA_OUT_OF_BOUNDS"],
    ["a payment that its maker cannot make", "0x5f5f5f5f606460995af1505f5ffd", "INSUFFICIENT_NATIVE_BALANCE"],
  ] as const)("the machine's own failures: %s", async (_, code, label) => {
    const to = await deployCode(code);
    const failure = await failureOf("0x", { to });
    expect(failure.label).toBe(label);
    expect(failure.details.revert.type).toBe("empty");
  });

  test("a state change in a static call", async () => {
    const write = encode("write", [1n]);
    const failure = await failureOf(encode("forwardStatic", [innerTarget, write]));
    expect(failure.label).toBe("STATE_CHANGE_IN_STATIC_CALL");
    expect(failure.details.innermost.type).toBe("STATICCALL");
  });
});

describe("out of gas", () => {
  test("in the call itself", async () => {
    const failure = await failureOf(encode("runOutOfGas", []));
    expect(failure).toMatchObject({ label: "OUT_OF_GAS", message: "Out of gas" });
    expect(failure.details.revert.type).toBe("empty");
    expect(failure.details.path).toHaveLength(1);
  });

  test("in an inner call whose caller reverts without a reason", async () => {
    const failure = await failureOf(
      encode("forwardSilently", [innerTarget, encode("runOutOfGas", []), 50_000n]),
    );
    expect(failure.label).toBe("OUT_OF_GAS");
    expect(failure.details.path.map(({ address }) => address)).toEqual([failures, innerTarget]);
    expect(failure.details.innermost.gasUsed).toBe("50000");
  });

  test("in an inner call that used up all gas, including its caller's", async () => {
    const invalid = encode("forward", [innerTarget, encode("runOutOfGas", [])]);
    const failure = await failureOf(throughMulticall(failures, invalid), {
      to: world.chain.contracts.multicall3,
      gas: 200_000n,
    });
    expect(failure.label).toBe("OUT_OF_GAS");
    expect(failure.details.path).toHaveLength(3);
  });

  test("with a limit below the intrinsic gas", async () => {
    expect((await failureOf(encode("write", [1n]), { gas: 21_100n })).label).toBe("OUT_OF_GAS");
  });
});

describe("the path leads to the call that caused the failure", () => {
  test("through a multicall that replaces the reason", async () => {
    const { multicall3 } = world.chain.contracts;
    const failure = await failureOf(throughMulticall(failures, encode("refuseSignature", [])), {
      to: multicall3,
    });
    expect(failure).toMatchObject({ label: "INVALID_SIGNATURE", message: "Invalid signature" });
    const { topLevel, innermost, path } = failure.details;
    expect(topLevel).toEqual({
      type: "CALL",
      address: multicall3,
      contract: "Multicall3",
      function: "Multicall3.aggregate3Value",
      selector: "0x174dea71",
      error: "execution reverted",
      revertReason: "Multicall3: call failed",
      gasUsed: expect.stringMatching(/^\d+$/),
    });
    expect(innermost).toEqual({
      type: "CALL",
      address: failures,
      selector: encode("refuseSignature", []),
      error: "execution reverted",
      revertReason: "Invalid signature",
      gasUsed: expect.stringMatching(/^\d+$/),
    });
    expect(path).toEqual([topLevel, innermost]);
  });

  test("through one of our own contracts, with its name", async () => {
    const { router } = world.chain.contracts;
    const call = { to: failures, data: encode("addTo", [1n]), value: 0n, allowFailure: false };
    const args = [[call], solver.address, []] as const;
    const data = encodeFunctionData({ abi: routerAbi, functionName: "multicall", args });
    const { label, details } = await failureOf(data, { to: router });
    expect(label).toBe("PANIC_ARITHMETIC_OVERFLOW");
    expect(details.topLevel).toMatchObject({ contract: "Router", function: "Router.multicall" });
    expect(details.innermost.address).toBe(failures);
  });

  test("through calls and delegate calls that forward the reason", async () => {
    const inner = encode("forward", [innerTarget, encode("addTo", [1n])]);
    const failure = await failureOf(encode("forwardDelegate", [innerTarget, inner]));
    expect(failure.label).toBe("PANIC_ARITHMETIC_OVERFLOW");
    expect(failure.details.path.map(({ type, address }) => [type, address])).toEqual([
      ["CALL", failures],
      ["DELEGATECALL", innerTarget],
      ["CALL", innerTarget],
    ]);
  });

  test("not into a caught failure", async () => {
    const inner = encode("refuseSignature", []);
    const failure = await failureOf(encode("forwardThenSay", [innerTarget, inner, "deadline passed"]));
    expect(failure).toMatchObject({ label: "DEADLINE_PASSED", message: "deadline passed" });
    expect(failure.details.path).toHaveLength(1);
  });

  test("to the later of two calls that failed in the same way", async () => {
    const failing = encode("refuseSignature", []);
    const swallowing = encode("swallow", [innerTarget, failing]);
    const calls = [swallowing, failing].map((callData) => ({
      target: failures,
      allowFailure: false,
      callData,
    }));
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
    const { details } = await failureOf(data, { to: world.chain.contracts.multicall3 });
    expect(details.path.map(({ address }) => address)).toEqual([world.chain.contracts.multicall3, failures]);
  });

  test("to a silent failure under a caller that only reports that a call failed", async () => {
    const data = throughMulticall(failures, encode("refuseWith", ["0x"]));
    const failure = await failureOf(data, { to: world.chain.contracts.multicall3 });
    // No inner call gave more detail than the multicall.
    expect(failure.label).toBe("MULTICALL3_CALL_FAILED");
    expect(failure.details.path).toHaveLength(2);
  });

  test("names the redemption of a delegation if no other reason is known", async () => {
    const redeem = (data: Hex) =>
      encode("redeemDelegations", [
        [encodeAbiParameters([{ type: "address" }, { type: "bytes" }], [innerTarget, data])],
        [],
        [],
      ]);
    const silent = await failureOf(redeem(encode("refuseWith", ["0x"])));
    expect(silent).toMatchObject({ label: "DELEGATION_REDEEM_FAILED" });
    expect(silent.details.revert).toMatchObject({ type: "empty", label: "DELEGATION_REDEEM_FAILED" });
    expect(silent.details.topLevel).toMatchObject({
      contract: "DelegationManager",
      function: "DelegationManager.redeemDelegations",
    });
    expect((await failureOf(redeem(encode("refuseSignature", [])))).label).toBe("INVALID_SIGNATURE");
    expect((await failureOf(redeem(encode("runInvalid", [])))).label).toBe("INVALID_OPCODE");
  });

  test("through the caller of a token to the token's refusal, with both names", async () => {
    const data = encodeFunctionData({
      abi: testTokenAbi,
      functionName: "transfer",
      args: [solver.address, 10n ** 30n],
    });
    const failure = await failureOf(encode("forward", [world.token, data]));
    expect(failure.label).toBe("ERC20_INSUFFICIENT_BALANCE");
    expect(failure.details.innermost).toMatchObject({ address: world.token, function: "transfer" });
    expect(failure.details.innermost.contract).toBeUndefined();
  });
});

describe("the gas to give a call", () => {
  /** Sends it with exactly the returned limit. */
  async function sendWith(gas: bigint, data: Hex, to: Address = failures) {
    const hash = await world.wallet.rpc("eth_sendTransaction", [{ from, to, data, gas: toHex(gas) }]);
    return await mined(reader, hash as Hex);
  }

  test("suffices when sent, and is close to the gas used", async () => {
    const data = throughMulticall(failures, encode("write", [1n]));
    const to = world.chain.contracts.multicall3;
    const { gas, gasUsed } = await successOf(data, { to });
    const receipt = await sendWith(gas, data, to);
    expect(receipt).toMatchObject({ status: "success", gasUsed });
    expect(gas).toBeLessThan((gasUsed * 11n) / 10n);
  });

  test("gives inner calls that may fail enough gas", async () => {
    const deep = encode("forward", [failures, encode("forward", [innerTarget, encode("write", [2n])])]);
    const data = encode("swallow", [innerTarget, deep]);
    const { gas, effects } = await successOf(data);
    const estimate = await world.wallet.rpc("eth_estimateGas", [{ from, to: failures, data }]);
    // For the node, a call succeeds if the transaction does not revert, even if an inner call ran out of gas.
    const resultOf = (success: boolean) => pad(success ? "0x01" : "0x00");
    expect((await sendWith(BigInt(estimate as Hex), data))?.logs.at(-1)?.data).toBe(resultOf(false));
    const receipt = await sendWith(gas, data);
    expect(receipt?.logs.at(-1)?.data).toBe(resultOf(true));
    expect(effects).toMatchObject({ logs: [{ address: failures, data: resultOf(true) }] });
  });

  test("covers gas that a call requires without using it", async () => {
    const data = encode("wantGas", [700_000n]);
    const { gas, gasUsed } = await successOf(data);
    expect(gasUsed).toBeLessThan(40_000n);
    expect(await sendWith(gas, data)).toMatchObject({ status: "success" });
  });

  test("includes gas that is refunded only afterwards", async () => {
    const { wallet } = world;
    for (let index = 0n; index < 6n; index++)
      await wallet.send({ to: innerTarget, data: encode("write", [1n]) });
    const data = encode("clear", []);
    const { gas, gasUsed } = await successOf(data, { to: innerTarget });
    expect(gas).toBeGreaterThan(gasUsed + 4_000n);
    expect(await sendWith(gas, data, innerTarget)).toMatchObject({ status: "success", gasUsed });
  });

  test("is the requested limit if there is one", async () => {
    expect(await successOf(encode("write", [1n]), { gas: 123_456n })).toMatchObject({ gas: 123_456n });
  });

  test("may exceed what the sender can pay for, which is not a failure of the call", async () => {
    const poor: Address = `0x${"be".repeat(20)}`;
    const call = { to: failures, data: encode("write", [1n]), value: 0n };
    expect(await reader.trace(poor, call, fees)).toEqual({ kind: "insufficientFunds" });
    await world.wallet.send({ to: poor, value: 40_000n * fees.maxFeePerGas });
    expect(await reader.trace(poor, call, fees)).toEqual({ kind: "insufficientFunds" });
    const failing = { ...call, data: encode("refuseSignature", []) };
    expect(await reader.trace(poor, failing, fees)).toMatchObject({
      failure: { label: "INVALID_SIGNATURE" },
    });
    await world.wallet.send({ to: poor, value: 100_000n * fees.maxFeePerGas });
    expect(await reader.trace(poor, call, fees)).toMatchObject({ kind: "ok" });
    expect(await reader.trace(poor, { ...call, value: 10n ** 18n }, fees)).toEqual({
      kind: "insufficientFunds",
    });
  });
});

/** Deploys a contract with exactly this code. */
async function deployCode(code: Hex): Promise<Address> {
  const size = toHex((code.length - 2) / 2, { size: 1 });
  const creation = concat(["0x60", size, "0x80600a5f395ff3", "0x00", code]);
  return await world.wallet.deploy([], creation);
}
