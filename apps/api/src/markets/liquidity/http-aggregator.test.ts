import { Secret } from "@causeway/config";
import type { Address, ChainContracts } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { routerAbi } from "@causeway/contracts";
import { decodeFunctionData, erc20Abi } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { aggregatorKey, settler, startAggregator } from "../../../../../test/support/aggregator-server.ts";
import type { LiquiditySource, SwapAnswer, SwapQuestion } from "./liquidity.port.ts";
import { createCombinedLiquidity } from "./combined-liquidity.adapter.ts";
import { fillSwapQuoter } from "../../payments/fill-swap.ts";
import { createHttpAggregator } from "./http-aggregator.adapter.ts";

const account = (byte: string): Address => `0x${byte.repeat(20)}`;
const contracts: ChainContracts = {
  depository: account("d1"),
  router: account("d2"),
  approvalProxy: account("d3"),
  serviceReceiver: account("d4"),
  multicall3: account("d5"),
};
const [tokenIn, tokenOut, recipient] = [account("a1"), account("a2"), account("a3")];
const chainId = 11;
const question: SwapQuestion = {
  chainId,
  tokenIn,
  tokenOut,
  included: undefined,
  excluded: new Set(),
  maxHops: 3,
  shouldQueryExternal: false,
};

const server = await startAggregator(chainId, 2n, 1_000_000_000n);
afterAll(() => server.close());
let nowMs = 0;
let faults: unknown[] = [];
beforeEach(() => {
  server.respond = undefined;
  server.change = {};
  server.requestedPaths.length = 0;
  nowMs += 60_000;
  faults = [];
});

function anAggregator(
  change: { readonly key?: string; readonly url?: string; readonly timeoutMs?: number } = {},
) {
  return createHttpAggregator({
    name: "aggregator",
    url: change.url ?? server.url,
    apiKey: new Secret(change.key ?? aggregatorKey),
    timeoutMs: change.timeoutMs ?? 1_000,
    chains: new Map([[chainId, contracts]]),
    clock: { nowMs: () => nowMs },
    onFault: (error) => faults.push(error),
  });
}

test("a swap is answered with its output, its impact and slippage for unobserved moves", async () => {
  const answer = await anAggregator().exactIn(question, 10_000_000n);
  // 1 % of the depth: 10^7 * 2 * 100 / 101.
  expect(answer).toMatchObject({ source: "aggregator", amountOut: 19_801_980n, gas: 280_000n });
  expect(answer?.path).toEqual([tokenIn, tokenOut]);
  expect(answer?.blockNumber).toBeUndefined();
  expect(answer?.spotOut).toBeGreaterThan(19_990_000n);
  expect(answer?.slippageBps).toBe(20 + 25 + 30);
  expect(server.requestedPaths.toSorted()).toEqual(["price", "quote"]);
});

test("approves the input, swaps, revokes the allowance and pays out the whole output", async () => {
  const answer = await anAggregator().exactIn(question, 1_000n);
  const calls = answer?.calls({ kind: "exactIn", limit: 1_990n, recipient }) ?? [];
  expect(calls.map(({ to, value }) => [to, value])).toEqual([
    [tokenIn, 0n],
    [tokenIn, 0n],
    [settler, 0n],
    [tokenIn, 0n],
    [contracts.router, 0n],
  ]);
  const allowances = [0, 1, 3].map(
    (index) => decodeFunctionData({ abi: erc20Abi, data: calls[index]?.data ?? "0x" }).args,
  );
  expect(allowances.map((args) => args?.[1])).toEqual([0n, 1_000n, 0n]);
  expect(calls[2]?.data).toBe("0x2213bc0b00");
  const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: calls[4]?.data ?? "0x" });
  expect({ functionName, args }).toMatchObject({ functionName: "payBalance" });
  expect(args?.map(String).map((text) => text.toLowerCase())).toEqual([tokenOut, recipient, "1990"]);
  // Output that stays in the router is handled by the caller's own calls.
  expect(answer?.calls({ kind: "exactIn", limit: 1n, recipient: contracts.router })).toHaveLength(4);
});

test("a pair without liquidity is not a failure", async () => {
  server.respond = (_request, response) => void response.end('{"liquidityAvailable":false,"zid":"0x1"}');
  expect(await anAggregator().exactIn(question, 1_000n)).toBeUndefined();
  expect(faults).toEqual([]);
});

test("does not query for exact outputs, unsupported chains or excluded names", async () => {
  const aggregator = anAggregator();
  expect(aggregator.exactOut(question, 5n)).toBeUndefined();
  expect(aggregator.exactIn({ ...question, chainId: 12 }, 5n)).toBeUndefined();
  expect(aggregator.exactIn({ ...question, excluded: new Set(["aggregator"]) }, 5n)).toBeUndefined();
  expect(aggregator.exactIn({ ...question, included: new Set(["pools"]) }, 5n)).toBeUndefined();
  expect(aggregator.exactIn({ ...question, tokenOut: tokenIn }, 5n)).toBeUndefined();
  expect(aggregator.sources(12)).toEqual([]);
  expect(server.requestedPaths).toEqual([]);
});

test("sends identical concurrent questions to the aggregator once", async () => {
  const aggregator = anAggregator();
  const answers = await Promise.all([1, 2, 3].map(async () => await aggregator.exactIn(question, 1_000n)));
  expect(new Set(answers).size).toBe(1);
  expect(server.requestedPaths).toHaveLength(2);
});

test("keeps the calls and minimum of an earlier answer when the price changes, and answers later questions at the new price", async () => {
  const aggregator = anAggregator();
  const quoted = await aggregator.exactIn(question, 1_000n);
  const bound = { kind: "exactIn", limit: 1_990n, recipient } as const;
  const quotedCalls = quoted?.calls(bound);
  server.change = {
    buyAmount: "900",
    minBuyAmount: "800",
    transaction: { to: settler, data: "0x99", value: "0" },
  };
  // The user's transaction is the agreed one: the router reverts below the minimum.
  expect(quoted?.calls(bound)).toEqual(quotedCalls);
  const { args } = decodeFunctionData({ abi: routerAbi, data: quotedCalls?.at(-1)?.data ?? "0x" });
  expect(args?.[2]).toBe(1_990n);
  expect(await aggregator.exactIn(question, 1_000n)).toMatchObject({ amountOut: 900n });
});

const unavailable = { code: "SERVICE_UNAVAILABLE" };

test.each([
  ["is about another input", { sellToken: account("b1") }],
  ["is about another output", { buyToken: account("b1") }],
  ["is about another amount", { sellAmount: "999" }],
  ["promises less than its minimum", { minBuyAmount: "5000" }],
  ["has no output", { buyAmount: "0", minBuyAmount: "0" }],
  ["has an amount that is not an integer", { buyAmount: "1.5" }],
  ["has an amount that is not a string", { buyAmount: 1_998 }],
  ["has no calldata", { transaction: undefined }],
  ["needs native tokens", { transaction: { to: settler, data: "0x", value: "1" } }],
  [
    "needs more gas than the limit for a swap",
    { transaction: { to: settler, data: "0x", value: "0", gas: "10000001" } },
  ],
  ["has half a byte", { transaction: { to: settler, data: "0x1", value: "0" } }],
  ["calls the router itself", { transaction: { to: contracts.router, data: "0x", value: "0" } }],
  ["calls the approval proxy", { transaction: { to: contracts.approvalProxy, data: "0x", value: "0" } }],
  [
    "calls the token",
    { transaction: { to: tokenIn.toUpperCase().replace("0X", "0x"), data: "0x", value: "0" } },
  ],
  ["needs an allowance for the depository", { allowanceTarget: contracts.depository }],
  ["needs an allowance for the zero address", { allowanceTarget: account("00") }],
])("discards an answer that %s", async (_why, change) => {
  server.change = change;
  await expect(anAggregator().exactIn(question, 1_000n)).rejects.toMatchObject(unavailable);
  expect(faults).toHaveLength(1);
});

test.each([
  ["refuses the key", { key: "another key" }, undefined],
  ["times out", { timeoutMs: 50 }, () => undefined],
  [
    "sends more than a megabyte",
    {},
    (_: unknown, response: { end(text: string): void }) => response.end(" ".repeat(1_100_000)),
  ],
  ["sends invalid JSON", {}, (_: unknown, response: { end(text: string): void }) => response.end("<html>")],
  [
    "redirects",
    {},
    (_: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) =>
      response.writeHead(302, { location: `${server.url}/quote` }).end(),
  ],
])(
  "a service that %s has no answer, and the error does not contain its key",
  async (_why, change, respond) => {
    server.respond = respond as typeof server.respond;
    await expect(anAggregator(change).exactIn(question, 1_000n)).rejects.toMatchObject(unavailable);
    expect(faults).toHaveLength(1);
    const [fault] = faults;
    expect(
      `${String(fault)}${fault instanceof Error ? `${fault.stack}${String(fault.cause)}` : ""}`,
    ).not.toContain(aggregatorKey);
  },
);

test("pauses for three seconds after a failure", async () => {
  const aggregator = anAggregator();
  server.change = { buyAmount: "0" };
  await expect(aggregator.exactIn(question, 1_000n)).rejects.toMatchObject(unavailable);
  server.change = {};
  const requestsBefore = server.requestedPaths.length;
  nowMs += 2_999;
  await expect(aggregator.exactIn(question, 1_000n)).rejects.toMatchObject(unavailable);
  expect(server.requestedPaths).toHaveLength(requestsBefore);
  nowMs += 1;
  expect(await aggregator.exactIn(question, 1_000n)).toMatchObject({ amountOut: 1_999n });
});

test("still asks for other pairs after a pair was refused or answered with invalid data", async () => {
  const aggregator = anAggregator();
  const hostile = { ...question, tokenIn: account("66") };
  server.respond = (_request, response) => void response.writeHead(400).end();
  await expect(aggregator.exactIn(hostile, 1_000n)).rejects.toMatchObject(unavailable);
  server.respond = undefined;
  server.change = { transaction: { to: settler, data: "0x", value: "0", gas: "10000001" } };
  await expect(aggregator.exactIn({ ...hostile, tokenOut: account("67") }, 1_000n)).rejects.toMatchObject(
    unavailable,
  );
  server.change = {};
  expect(await aggregator.exactIn(question, 1_000n)).toMatchObject({ amountOut: 1_999n });
  // A service that is down is paused for all pairs.
  server.respond = (_request, response) => void response.writeHead(503).end();
  await expect(aggregator.exactIn(question, 1_000n)).rejects.toMatchObject(unavailable);
  server.respond = undefined;
  await expect(aggregator.exactIn({ ...question, tokenIn: account("68") }, 1n)).rejects.toMatchObject(
    unavailable,
  );
});

/** Pools that sell at `rate`; undefined: they have no answer. */
function pools(rate: bigint | undefined, fails = false): LiquiditySource {
  const answerFor = (amountIn: bigint): SwapAnswer | undefined =>
    rate === undefined
      ? undefined
      : ({ source: "pools", amountIn, amountOut: amountIn * rate, gas: 1n } as SwapAnswer);
  return {
    sources: () => ["pools"],
    exactIn: (_question, amountIn) => {
      if (fails) return Promise.reject(new ServiceError("RPC_HTTP_ERROR", "no node"));
      return answerFor(amountIn);
    },
    exactOut: (_question, amountOut) => answerFor(amountOut),
  };
}

test("answers from pools alone, synchronously, unless aggregators are requested", async () => {
  const combined = createCombinedLiquidity(pools(1n), [anAggregator()]);
  expect(combined.sources(chainId)).toEqual(["pools", "aggregator"]);
  expect(combined.exactIn(question, 1_000n)).toMatchObject({ source: "pools" });
  expect(server.requestedPaths).toEqual([]);
  const external = { ...question, shouldQueryExternal: true };
  expect(await combined.exactIn(external, 1_000n)).toMatchObject({ source: "aggregator", amountOut: 1_999n });
  const better = createCombinedLiquidity(pools(3n), [anAggregator()]);
  expect(await better.exactIn(external, 1_000n)).toMatchObject({ source: "pools", amountOut: 3_000n });
  expect(createCombinedLiquidity(pools(3n), []).exactIn(external, 1n)).toMatchObject({ source: "pools" });
});

test("the service answers when pools have no answer or cannot be read", async () => {
  for (const emptyPools of [pools(undefined), pools(undefined, true)])
    expect(
      await createCombinedLiquidity(emptyPools, [anAggregator()]).exactIn(question, 1_000n),
    ).toMatchObject({
      source: "aggregator",
    });
});

test("reports an unavailable source only when no other source has an answer", async () => {
  server.respond = (_request, response) => void response.writeHead(500).end();
  const external = { ...question, shouldQueryExternal: true };
  expect(await createCombinedLiquidity(pools(1n), [anAggregator()]).exactIn(external, 5n)).toMatchObject({
    source: "pools",
  });
  await expect(
    createCombinedLiquidity(pools(undefined), [anAggregator()]).exactIn(question, 5n),
  ).rejects.toMatchObject(unavailable);
  await expect(
    createCombinedLiquidity(pools(undefined, true), [anAggregator()]).exactIn(question, 5n),
  ).rejects.toMatchObject({ code: "RPC_HTTP_ERROR" });
});

test("never queries aggregators for a fill, regardless of earlier answers", async () => {
  const external = { ...question, shouldQueryExternal: true };
  const routed = { wrap: 0n, unwrap: 0n };
  const poolSource = { kind: "uniswap-v2", name: "pools", factory: account("e2"), feeBps: 30 } as const;
  const liquidity = { wrappedNative: account("e1"), connectors: [], sources: [poolSource] };
  const inFill = (source: LiquiditySource) =>
    fillSwapQuoter(source, { id: chainId, liquidity }, { paidFrom: tokenIn, currency: tokenOut }, routed);
  const source = createCombinedLiquidity(pools(1n), [anAggregator()]);
  expect(await source.exactIn(external, 1_000n)).toMatchObject({ source: "aggregator", amountOut: 1_999n });
  for (const buyAmount of ["1", "1000000000"]) {
    server.requestedPaths.length = 0;
    server.change = { buyAmount, minBuyAmount: "1" };
    expect(await inFill(source).quoteExactIn(1_000n)).toMatchObject({ amountOut: 1_000n });
    // If the pools have no answer either, the fill waits or the deposit is refunded.
    expect(
      await inFill(createCombinedLiquidity(pools(undefined), [anAggregator()])).quoteExactIn(1_000n),
    ).toBeUndefined();
    expect(server.requestedPaths).toEqual([]);
  }
});
