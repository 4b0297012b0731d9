import { encodeFunctionData, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failuresAbi, failuresBytecode, takerAbi, takerBytecode } from "@causeway/contracts";
import type { Address, CallFrame, Hex } from "@causeway/domain";
import { mined, solver, startEvmWorld, user, type EvmWorld } from "../../test/chain.ts";
import type { ChainReader } from "@causeway/families/evm";
import { judgeEffects } from "./call-effects.ts";
import { nativeFlows } from "./native-flows.ts";
import { createChainReader } from "./reader.ts";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";

const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const from = user.address.toLowerCase() as Address;
const funded = { senderBalanceWei: 10n ** 18n };

let world: EvmWorld;
let transport: RpcTransport;
let failures: Address;
let innerTarget: Address;
let taker: Address;
let reader: ChainReader;
let methods: string[];

beforeAll(async () => {
  world = await startEvmWorld(31_035);
  transport = createRpcTransport({ url: world.node.url });
  failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
  innerTarget = await world.wallet.deploy(failuresAbi, failuresBytecode);
  taker = await world.wallet.deploy(takerAbi, takerBytecode);
}, 30_000);
beforeEach(() => {
  methods = [];
  const request: RpcTransport["request"] = async (method, params, options) => {
    methods.push(method);
    return await transport.request(method, params, options);
  };
  reader = createChainReader(world.chain, { ...transport, request });
});
afterAll(async () => {
  await transport.close();
  await world.node.stop();
});

const write = (value: bigint): Hex =>
  encodeFunctionData({ abi: failuresAbi, functionName: "write", args: [value] });
const burn = encodeFunctionData({ abi: failuresAbi, functionName: "runOutOfGas" });

/** `swallow` continues whether or not the inner call succeeds. */
const swallow = (data: Hex): Hex =>
  encodeFunctionData({ abi: failuresAbi, functionName: "swallow", args: [innerTarget, data] });

async function trace(data: Hex, options = {}, call: { to?: Address; value?: bigint } = {}) {
  methods.length = 0;
  const outcome = await reader.trace(from, { to: failures, data, value: 0n, ...call }, fees, options);
  if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
  return outcome;
}

describe("a call similar to one that was traced before", () => {
  test("is traced once, and the returned limit suffices", async () => {
    const first = await trace(write(1n));
    expect(methods.length).toBeGreaterThan(3);
    const { gas, gasUsed, effects, calls } = await trace(write(2n), funded);
    expect(methods).toEqual(["debug_traceCall"]);
    expect(gas).toBe(first.gas);
    expect({ gasUsed, calls }).toEqual({ gasUsed: first.gasUsed, calls: first.calls });
    expect(effects.kind === "seen" && effects.logs).toEqual(
      first.effects.kind === "seen" && first.effects.logs,
    );
    const hash = await world.wallet.rpc("eth_sendTransaction", [
      { from, to: failures, data: write(2n), gas: toHex(gas) },
    ]);
    expect(await mined(reader, hash as Hex)).toMatchObject({ status: "success" });
  });

  test("is traced fully if its sender's native balance is unknown, or the limit exceeds `maxGas`", async () => {
    const { gas } = await trace(write(1n));
    for (const options of [
      {},
      { senderBalanceWei: gas * fees.maxFeePerGas - 1n },
      { ...funded, maxGas: gas - 1n },
    ]) {
      await trace(write(3n), options);
      expect(methods.length, JSON.stringify(Object.keys(options))).toBeGreaterThan(3);
    }
  });

  test("is traced fully if an inner call fails, even if its caller ignores that", async () => {
    const cheapCall = swallow(write(4n));
    await trace(cheapCall);
    await trace(cheapCall, funded);
    expect(methods).toHaveLength(1);
    // A similar call, but its inner call needs more gas than the cached limit leaves.
    const expensiveCall = swallow(
      encodeFunctionData({ abi: failuresAbi, functionName: "wantGas", args: [700_000n] }),
    );
    expect(expensiveCall).toHaveLength(cheapCall.length);
    const { gas } = await trace(expensiveCall, funded);
    expect(methods.length).toBeGreaterThan(3);
    expect(gas).toBeGreaterThan(700_000n);
    // The cached limit is now far more than this call needs, so its own limit is determined again.
    const repeated = await trace(cheapCall, funded);
    expect(methods.length).toBeGreaterThan(3);
    expect(repeated.gas).toBeLessThan(200_000n);
  });

  test("returns the exact reason if it fails", async () => {
    const args = [write(5n)] as const;
    await trace(
      encodeFunctionData({ abi: failuresAbi, functionName: "forward", args: [innerTarget, ...args] }),
    );
    const failing = encodeFunctionData({
      abi: failuresAbi,
      functionName: "forward",
      args: [innerTarget, padToWrite(burn)],
    });
    const outcome = await reader.trace(from, { to: failures, data: failing, value: 0n }, fees, funded);
    expect(outcome).toMatchObject({ kind: "reverts", failure: { label: "OUT_OF_GAS" } });
  });

  test("is judged by the value of its calls", async () => {
    const serve = encodeFunctionData({ abi: takerAbi, functionName: "serve" });
    const rules = (priced: bigint, gas: bigint) => ({
      sender: from,
      protectedAccounts: [from, solver.address],
      allowedSpendWei: priced + gas * fees.maxFeePerGas,
    });
    await trace(serve, {}, { to: taker, value: 5n });
    const { effects, gas, gasUsed } = await trace(serve, funded, { to: taker, value: 6n });
    expect(methods).toHaveLength(1);
    expect(judgeEffects(effects, rules(6n, gas))).toBeUndefined();
    expect(judgeEffects(effects, rules(5n, gasUsed))?.kind).toBe("nativeSpent");
  });
});

/** Pads the data to the length of a call of `write`. */
function padToWrite(data: Hex): Hex {
  return `${data}${"00".repeat((write(0n).length - data.length) / 2)}`;
}

describe("effects of a call tree on accounts", () => {
  const [a, b, c] = ["aa", "bb", "cc"].map((byte): Address => `0x${byte.repeat(20)}`) as [
    Address,
    Address,
    Address,
  ];
  const frame = (
    type: string,
    source: Address,
    to: Address,
    value: bigint,
    fields: Partial<CallFrame> = {},
  ): CallFrame => ({
    type,
    from: source,
    to,
    value,
    input: "0x",
    output: "0x",
    gas: 0n,
    gasUsed: 0n,
    error: undefined,
    logs: [],
    calls: [],
    ...fields,
  });
  const netOf = (root: CallFrame, account: Address): bigint | undefined =>
    nativeFlows(root, 7n).get(account)?.balanceAfter;

  test("value moves with calls, creations and self-destructs, and not with delegate calls", () => {
    const calls = [
      frame("CALL", b, c, 3n),
      frame("DELEGATECALL", b, c, 100n),
      frame("CALLCODE", b, c, 100n),
      frame("SELFDESTRUCT", c, a, 2n),
    ];
    const root = frame("CALL", a, b, 10n, { calls });
    expect([a, b, c].map((account) => netOf(root, account))).toEqual([-7n - 10n + 2n, 7n, 1n]);
  });

  test("failed calls moved nothing, nor did their inner calls", () => {
    const failed = frame("CALL", b, c, 1n, { error: "execution reverted", calls: [frame("CALL", c, a, 1n)] });
    const root = frame("CALL", a, b, 10n, { calls: [failed] });
    expect(netOf(root, c)).toBeUndefined();
    expect(netOf(frame("CALL", a, b, 10n, { error: "execution reverted" }), a)).toBe(-7n);
  });

  test("a creation uses a nonce and sets code", () => {
    const changes = nativeFlows(frame("CALL", a, b, 0n, { calls: [frame("CREATE2", b, c, 4n)] }), 0n);
    expect(changes.get(a)).toMatchObject({ nonceAfter: 1n, codeChanged: false });
    expect(changes.get(b)).toMatchObject({ nonceAfter: 1n, codeChanged: false, balanceAfter: -4n });
    expect(changes.get(c)).toMatchObject({ nonceAfter: 0n, codeChanged: true, balanceAfter: 4n });
  });
});
