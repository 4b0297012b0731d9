import { encodeFunctionData } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failuresAbi, failuresBytecode, takerAbi, takerBytecode, testTokenAbi } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { solver, startEvmWorld, user, type EvmWorld } from "../../test/chain.ts";
import type { ChainReader } from "@causeway/families/evm";
import { judgeEffects } from "./call-effects.ts";
import { readEffectsView } from "./effects-view.ts";
import { createChainReader } from "./reader.ts";
import { NodeRefusal, RpcFault } from "@causeway/families";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";

const chainId = 31_034;
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const from = user.address.toLowerCase() as Address;

let world: EvmWorld;
let transport: RpcTransport;
let failures: Address;
let taker: Address;

beforeAll(async () => {
  world = await startEvmWorld(chainId);
  transport = createRpcTransport({ url: world.node.url });
  failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
  taker = await world.wallet.deploy(takerAbi, takerBytecode);
}, 30_000);
afterAll(async () => {
  await transport.close();
  await world.node.stop();
});

type Change = (method: string, params: readonly unknown[]) => unknown;

/** The real node, unless `change` answers or throws; `methods` contains the received methods. */
function nodeThat(change: Change): { readonly reader: ChainReader; readonly methods: string[] } {
  const methods: string[] = [];
  const request: RpcTransport["request"] = async (method, params, options) => {
    methods.push(method);
    return (await change(method, params)) ?? (await transport.request(method, params, options));
  };
  return { reader: createChainReader(world.chain, { ...transport, request }), methods };
}

function refusing(methods: Readonly<Record<string, readonly [number, string]>>): Change {
  return (method) => {
    const refusal = methods[method];
    if (refusal === undefined) return undefined;
    throw new NodeRefusal({ method, nodeCode: refusal[0], nodeText: refusal[1], nodeData: undefined });
  };
}

const write = encodeFunctionData({ abi: failuresAbi, functionName: "write", args: [1n] });
const refuse = encodeFunctionData({ abi: failuresAbi, functionName: "refuseSignature" });

describe("a node that does not trace", () => {
  const refusals = [
    [-32_601, "the method debug_traceCall does not exist/is not available"],
    [-32_601, "Method not found"],
    [-32_000, "debug_traceCall is not available on the Free tier"],
    [-32_600, "method not allowed"],
  ] as const;

  test.each(refusals)("detects once what it supports instead: %i %s", async (...refusal) => {
    const { reader, methods } = nodeThat(refusing({ debug_traceCall: refusal }));
    const call = { to: failures, data: write, value: 0n };
    const outcome = await reader.trace(from, call, fees);
    expect(outcome).toMatchObject({ kind: "ok", effects: { kind: "seen" } });
    if (outcome.kind !== "ok") throw new Error("no success");
    expect(outcome.gas).toBeGreaterThanOrEqual(outcome.gasUsed);
    await reader.trace(from, call, fees);
    expect(methods.filter((method) => method === "debug_traceCall")).toHaveLength(1);
  });

  test("reports why a call fails, as a whole", async () => {
    const { reader } = nodeThat(refusing({ debug_traceCall: refusals[0] }));
    const frame = {
      type: "CALL",
      address: failures,
      selector: refuse,
      error: "execution reverted",
      revertReason: "Invalid signature",
    };
    const outcome = await reader.trace(from, { to: failures, data: refuse, value: 0n }, fees);
    expect(outcome).toMatchObject({
      kind: "reverts",
      failure: { label: "INVALID_SIGNATURE", details: { revert: { type: "customError" } } },
    });
    if (outcome.kind !== "reverts") throw new Error("no failure");
    const { topLevel, innermost, path } = outcome.failure.details;
    expect(topLevel).toMatchObject(frame);
    expect([innermost, path]).toEqual([topLevel, [topLevel]]);
    const burn = encodeFunctionData({ abi: failuresAbi, functionName: "runOutOfGas" });
    expect(await reader.trace(from, { to: failures, data: burn, value: 0n }, fees)).toMatchObject({
      failure: { label: "OUT_OF_GAS" },
    });
  });

  test("reports the effects of a call by `eth_simulateV1`", async () => {
    const { reader } = nodeThat(refusing({ debug_traceCall: refusals[0] }));
    const rules = { sender: from, protectedAccounts: [from, solver.address], allowedSpendWei: 5n };
    const serve = encodeFunctionData({ abi: takerAbi, functionName: "serve" });
    for (const [value, kind] of [
      [5n, undefined],
      [6n, "nativeSpent"],
    ] as const) {
      const outcome = await reader.trace(from, { to: taker, data: serve, value }, fees);
      expect(outcome.kind === "ok" && judgeEffects(outcome.effects, rules)?.kind).toBe(kind);
    }
    const approve = encodeFunctionData({
      abi: testTokenAbi,
      functionName: "approve",
      args: [taker, 1n],
    });
    const approval = await reader.trace(from, { to: world.token, data: approve, value: 0n }, fees);
    expect(approval.kind === "ok" && judgeEffects(approval.effects, rules)?.kind).toBe("allowanceGiven");
  });

  test("leaves the effects unseen if it cannot simulate either", async () => {
    const { reader } = nodeThat(
      refusing({ debug_traceCall: refusals[0], eth_simulateV1: [-32_601, "Method not found"] }),
    );
    const outcome = await reader.trace(from, { to: failures, data: write, value: 0n }, fees);
    expect(outcome).toMatchObject({ kind: "ok", effects: { kind: "unseen" } });
  });

  test("supports authorizations, and reports insufficient funds", async () => {
    const { reader } = nodeThat(refusing({ debug_traceCall: refusals[0] }));
    const account = privateKeyToAccount(generatePrivateKey());
    const terms = { chainId, address: failures, nonce: 0 };
    const { r, s, yParity } = await account.signAuthorization(terms);
    const authorizationList = [{ ...terms, r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) }];
    const call = { to: account.address, data: write, value: 0n, authorizationList };
    const outcome = await reader.trace(from, call, fees);
    expect(outcome.kind === "ok" && outcome.gas).toBeGreaterThan(21_000n + 25_000n + 40_000n);
    const poor: Address = `0x${"be".repeat(20)}`;
    await world.wallet.send({ to: poor, value: 30_000n * fees.maxFeePerGas });
    const plain = { to: failures, data: write, value: 0n };
    expect(await reader.trace(poor, plain, fees)).toEqual({ kind: "insufficientFunds" });
  });
});

describe("what a node does with authorizations", () => {
  const authorizedCall = async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const terms = { chainId, address: failures, nonce: 0 };
    const { r, s, yParity } = await account.signAuthorization(terms);
    const authorizationList = [{ ...terms, r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) }];
    return { to: account.address, data: write, value: 0n, authorizationList };
  };
  const plainCall = () => ({ to: failures, data: write, value: 0n });
  const isListed = ([transaction]: readonly unknown[]): boolean =>
    typeof transaction === "object" && transaction !== null && "authorizationList" in transaction;
  const refusal = (method: string, nodeText: string): NodeRefusal =>
    new NodeRefusal({ method, nodeCode: -32_000, nodeText, nodeData: undefined });

  test.each(["transaction type not supported", "EIP-7702 is not enabled", "not supported"])(
    "still traces on a chain without them: %s",
    async (text) => {
      const { reader, methods } = nodeThat((method, params) => {
        if (["debug_traceCall", "eth_estimateGas"].includes(method) && isListed(params))
          throw refusal(method, text);
        return undefined;
      });
      const outcome = await reader.trace(from, await authorizedCall(), fees);
      expect(outcome).toMatchObject({
        kind: "reverts",
        failure: { label: "AUTHORIZATION_NOT_SUPPORTED" },
      });
      methods.length = 0;
      expect(await reader.trace(from, plainCall(), fees)).toMatchObject({
        kind: "ok",
        effects: { kind: "seen" },
      });
      expect(methods).toContain("debug_traceCall");
      expect(methods).not.toContain("eth_simulateV1");
      // The list is not tried again for further calls with one.
      methods.length = 0;
      await reader.trace(from, await authorizedCall(), fees);
      expect(methods).not.toContain("debug_traceCall");
    },
  );

  test("a refusal of one call with authorizations is a fault of that call", async () => {
    let lists = 0;
    const { reader, methods } = nodeThat((method, params) => {
      if (method === "debug_traceCall" && isListed(params) && ++lists > 1)
        throw refusal(method, "this is not allowed");
      return undefined;
    });
    await expect(reader.trace(from, await authorizedCall(), fees)).rejects.toThrow("this is not allowed");
    methods.length = 0;
    await reader.trace(from, plainCall(), fees);
    expect(methods).toContain("debug_traceCall");
  });

  test("reports a node that neither traces nor supports them", async () => {
    const { reader } = nodeThat((method, params) => {
      if (method === "debug_traceCall") throw refusal(method, "tracing is disabled");
      if (isListed(params)) throw refusal(method, "transaction type not supported");
      return undefined;
    });
    expect(await reader.trace(from, await authorizedCall(), fees)).toMatchObject({
      failure: { label: "AUTHORIZATION_NOT_SUPPORTED" },
    });
    expect(await reader.trace(from, plainCall(), fees)).toMatchObject({ kind: "ok" });
  });

  test("detects this with a call of our own, not with one whose sender controls its appearance", async () => {
    let isFirst = true;
    const overridden: unknown[] = [];
    const { reader } = nodeThat(async (method, params) => {
      if (method !== "debug_traceCall") return undefined;
      const [transaction, , config] = params as [{ to: Address }, unknown, { stateOverrides?: object }];
      overridden.push(config.stateOverrides);
      const isHostile = transaction.to === hostile.to.toLowerCase();
      if (!isHostile || !isFirst) return undefined;
      isFirst = false;
      // Looks as if the list had no effect.
      const { authorizationList: _, ...transactionWithoutList } = transaction as {
        to: Address;
        authorizationList?: unknown;
      };
      return await transport.request(method, [transactionWithoutList, ...params.slice(1)]);
    });
    const hostile = await authorizedCall();
    await reader.trace(from, hostile, fees).catch(() => {});
    overridden.length = 0;
    const call = await authorizedCall();
    expect(await reader.trace(from, call, fees)).toMatchObject({ kind: "ok" });
    const authorities = overridden.flatMap((accounts) => Object.keys(accounts ?? {}));
    expect(authorities).not.toContain(call.to.toLowerCase());
  });
});

describe("an unreliable or unreadable node is a fault, never a verdict", () => {
  const call = { to: "0x" as Hex, data: write, value: 0n };
  const faults: readonly (readonly [string, Change])[] = [
    ["no tree", (method) => (method === "debug_traceCall" ? { gas: "0x1" } : undefined)],
    ["a word in place of a tree", (method) => (method === "debug_traceCall" ? "fine" : undefined)],
    ["a rate limit", refusing({ debug_traceCall: [-32_005, "rate limit exceeded, upgrade your plan"] })],
    ["a block that it does not know", refusing({ debug_traceCall: [-32_000, "header not found"] })],
    ["no block", (method) => (method === "eth_getBlockByNumber" ? { number: "0x1" } : undefined)],
    ["no balance", (method) => (method === "eth_getBalance" ? "much" : undefined)],
    ["a server's fault", refusing({ debug_traceCall: [-32_603, "internal error"] })],
  ];
  test.each(faults)("%s", async (_, change) => {
    const { reader } = nodeThat(change);
    await expect(reader.trace(from, { ...call, to: failures }, fees)).rejects.toThrow(RpcFault);
  });

  test("a block that is replaced in the meantime", async () => {
    let blocks = 0;
    const { reader } = nodeThat(async (method, params) => {
      if (method !== "eth_getBlockByNumber" || ++blocks === 1) return undefined;
      const block = (await transport.request(method, params)) as object;
      return { ...block, hash: `0x${"99".repeat(32)}` };
    });
    await expect(reader.trace(from, { ...call, to: failures }, fees)).rejects.toMatchObject({
      kind: "inconsistent",
    });
  });

  test("calls that behave differently each time", async () => {
    let traces = 0;
    const { reader } = nodeThat(async (method, params) => {
      if (method !== "debug_traceCall") return undefined;
      const frame = (await transport.request(method, params)) as object;
      return { ...frame, ...(++traces > 1 && { logs: [{ address: failures, topics: [], data: "0x" }] }) };
    });
    await expect(reader.trace(from, { ...call, to: failures }, fees)).rejects.toMatchObject({
      kind: "inconsistent",
    });
  });

  test("a caller that aborts", async () => {
    const { reader } = nodeThat(() => undefined);
    const plain = { ...call, to: failures };
    await expect(reader.trace(from, plain, fees, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: "aborted",
    });
  });
});

describe("limits of a trace", () => {
  test("refuses a call with as many inner calls as possible", async () => {
    // JUMPDEST, five zeros, an address, GAS, CALL, POP, and back to the beginning; before it, the code that
    // deploys it.
    const to = await world.wallet.deploy([], "0x600e80600a5f395ff3005b5f5f5f5f5f60995af150600056");
    const { reader } = nodeThat(() => undefined);
    const outcome = await reader.trace(from, { to, data: "0x", value: 0n }, fees, { maxGas: 1_000_000n });
    expect(outcome).toMatchObject({ kind: "reverts", failure: { label: "TRACE_TOO_LARGE" } });
  });

  test("a call that needs more than `maxGas` runs out of gas", async () => {
    const { reader } = nodeThat(() => undefined);
    const call = { to: failures, data: write, value: 0n };
    expect(await reader.trace(from, call, fees, { maxGas: 30_000n })).toMatchObject({
      failure: { label: "OUT_OF_GAS" },
    });
    expect(await reader.trace(from, call, fees, { maxGas: 100_000n })).toMatchObject({ kind: "ok" });
  });
});

/** Refuses more gas than a transaction may have (EIP-7825), as EDR does. */
const refuseAboveCap: Change = (method, params) => {
  const [call] = params;
  const gas = typeof call === "object" && call !== null && "gas" in call ? BigInt(String(call.gas)) : 0n;
  if (gas <= 2n ** 24n) return undefined;
  const nodeText = `transaction gas limit (${gas}) is greater than the cap (16777216)`;
  throw new NodeRefusal({ method, nodeCode: -32_000, nodeText, nodeData: undefined });
};

test.each([
  ["traces", refuseAboveCap],
  [
    "simulates",
    (method: string, params: readonly unknown[]) =>
      refusing({ debug_traceCall: [-32_601, "Method not found"] })(method, params) ??
      refuseAboveCap(method, params),
  ],
] as const)(
  "lowers the gas for a node that %s no call with more gas than a transaction may have",
  async (_, change) => {
    const { reader } = nodeThat(change);
    const outcome = await reader.trace(from, { to: failures, data: write, value: 0n }, fees);
    expect(outcome).toMatchObject({ kind: "ok" });
    const burn = encodeFunctionData({ abi: failuresAbi, functionName: "runOutOfGas" });
    expect(await reader.trace(from, { to: failures, data: burn, value: 0n }, fees)).toMatchObject({
      failure: { label: "OUT_OF_GAS" },
    });
  },
);

const tracingRefusals = [
  "the method debug_traceCall does not exist",
  "custom tracers and tracer configurations are not implemented",
];

test.each([
  ["traced", {}],
  ["simulated", { debug_traceCall: [-32_601, tracingRefusals[0]] }],
  ["simulated", { debug_traceCall: [-32_602, tracingRefusals[1]] }],
  [
    "unseen",
    {
      debug_traceCall: [-32_601, tracingRefusals[0]],
      eth_simulateV1: [-32_601, "method eth_simulateV1 not found"],
    },
  ],
] as const)("what a call would do is %s on a node that refuses %j", async (view, refusalsByMethod) => {
  const change = refusing(refusalsByMethod as Parameters<typeof refusing>[0]);
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    change(method, params) ?? (await transport.request(method, params));
  expect(await readEffectsView(request, fees)).toBe(view);
});

test("effects stay unknown while a node rate-limits requests", async () => {
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    await Promise.resolve(
      refusing({ debug_traceCall: [429, "compute units per second exceeded: upgrade"] })(method, params),
    );
  await expect(readEffectsView(request, fees)).rejects.toBeInstanceOf(NodeRefusal);
});
