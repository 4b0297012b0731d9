import type { ChainReader } from "@causeway/chains";
import { RpcFault } from "@causeway/chains";
import type { Address, Currency, Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { encodeAbiParameters, encodeFunctionResult, multicall3Abi } from "viem";
import { expect, test } from "vitest";
import { aChain, ORIGIN, usdcOn } from "../../../../../test/fakes/quote-world.ts";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { createChainDirectory } from "../../chains/directory.adapter.ts";
import { foreignToken } from "./foreign-token.adapter.ts";
import { createTokenBook } from "./token-book.adapter.ts";
import { createUnlistedTokens } from "./unlisted-tokens.adapter.ts";

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const NO_TOKEN = address("ee");

const listed = (token: Address, symbol: string): Currency =>
  foreignToken({
    chainId: ORIGIN,
    address: token,
    symbol,
    name: symbol,
    decimals: 18,
    logoUri: undefined,
    verified: true,
  });

const aToken = (() => {
  const word = encodeAbiParameters([{ type: "uint256" }], [8n]);
  const text = encodeAbiParameters([{ type: "string" }], ["USDC"]);
  const result = [word, word, text, text].map((returnData) => ({ success: true, returnData }));
  return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
})();

/** One chain on which every address except {@link NO_TOKEN} is a token that calls itself USDC. */
function world({ lists = [] as readonly Currency[], maxKept = 100 } = {}) {
  const reads: Hex[] = [];
  const node: { fault?: Error | undefined; wait?: Promise<void> } = {};
  const reader: Pick<ChainReader, "ask"> = {
    ask: async (_to, data) => {
      reads.push(data);
      await node.wait;
      if (node.fault !== undefined) throw node.fault;
      return data.includes(NO_TOKEN.slice(2)) ? undefined : aToken;
    },
  };
  const connected = {
    chain: aChain(ORIGIN),
    connection: { reader },
    pulse: {},
  } as unknown as ConnectedChain;
  const chains = createChainDirectory([connected]);
  const time = { nowMs: 1_000_000 };
  const clock = { nowMs: () => time.nowMs };
  const state = { lists };
  const book = createTokenBook({
    chains,
    lists: {
      get: (chainId, token) =>
        state.lists.find((entry) => entry.chainId === chainId && entry.address === token),
      tokensOf: (chainId) => (chainId === ORIGIN ? state.lists : []),
    },
    unlisted: createUnlistedTokens({ chains, monotonic: clock, maxKept }),
  });
  return { book, reads: reads, node, time, state };
}

test("configuration takes precedence over lists, and lists over the token itself", async () => {
  const { book, reads: asked } = world({
    lists: [listed(usdcOn(ORIGIN), "FALSE"), listed(address("b1"), "LISTED")],
  });
  expect(book.token(ORIGIN, usdcOn(ORIGIN))).toMatchObject({ symbol: "USDC", supportsBridging: true });
  expect(book.token(ORIGIN, NATIVE_CURRENCY)).toMatchObject({ symbol: "ETH" });
  expect(book.token(ORIGIN, address("b1"))).toMatchObject({ symbol: "LISTED", verified: true });
  expect(asked).toEqual([]);
  expect(await book.token(ORIGIN, address("c1"))).toMatchObject({ symbol: "USDC", verified: false });
});

test("a token that calls itself USDC is neither verified nor bridged, and not equal to any other asset", async () => {
  const { book } = world();
  const [first, second] = [await book.token(ORIGIN, address("c1")), await book.token(ORIGIN, address("c2"))];
  const usdc = await book.token(ORIGIN, usdcOn(ORIGIN));
  expect(first).toMatchObject({
    symbol: "USDC",
    decimals: 8,
    class: "minor",
    verified: false,
    supportsBridging: false,
    supportsPermit: false,
  });
  for (const key of ["id", "priceId"] as const)
    expect(new Set([first?.[key], second?.[key], usdc?.[key]]).size).toBe(3);
});

test("concurrent callers share one read, and a known token is returned immediately", async () => {
  const { book, reads: asked } = world();
  const answers = await Promise.all([1, 2, 3].map(async () => await book.token(ORIGIN, address("c1"))));
  expect(answers[0]).toBeDefined();
  expect(new Set(answers).size).toBe(1);
  expect(book.token(ORIGIN, address("c1"))).toBe(answers[0]);
  expect(asked).toHaveLength(1);
});

test("the absence of a token is cached for a short time", async () => {
  const { book, reads: asked, time } = world();
  expect(await book.token(ORIGIN, NO_TOKEN)).toBeUndefined();
  expect(book.token(ORIGIN, NO_TOKEN)).toBeUndefined();
  time.nowMs += 29_999;
  expect(book.token(ORIGIN, NO_TOKEN)).toBeUndefined();
  expect(asked).toHaveLength(1);
  time.nowMs += 1;
  expect(await book.token(ORIGIN, NO_TOKEN)).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test("a chain that does not answer is a failure, not an absence", async () => {
  const { book, node } = world();
  node.fault = new RpcFault({ kind: "network", method: "eth_call", reason: "gone" });
  await expect(book.token(ORIGIN, address("c1"))).rejects.toMatchObject({
    code: "RPC_HTTP_ERROR",
    retryable: true,
    cause: node.fault,
  });
  node.fault = undefined;
  expect(await book.token(ORIGIN, address("c1"))).toBeDefined();
});

test("limits concurrent reads of unknown tokens and returns all of them", async () => {
  const { book, reads: asked, node } = world();
  const gate = Promise.withResolvers<void>();
  node.wait = gate.promise;
  const tokens = Array.from({ length: 20 }, (_, index) => address((16 + index).toString(16)));
  const answers = Promise.all(tokens.map(async (token) => await book.token(ORIGIN, token)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(4);
  gate.resolve();
  expect((await answers).every((token) => token?.symbol === "USDC")).toBe(true);
  expect(asked).toHaveLength(20);
});

test("evicts the least recently used token first", async () => {
  const { book, reads: asked } = world({ maxKept: 2 });
  await book.token(ORIGIN, address("c1"));
  await book.token(ORIGIN, address("c2"));
  void book.token(ORIGIN, address("c1"));
  await book.token(ORIGIN, address("c3"));
  expect(book.token(ORIGIN, address("c1"))).not.toBeInstanceOf(Promise);
  expect(asked).toHaveLength(3);
  await book.token(ORIGIN, address("c2"));
  expect(asked).toHaveLength(4);
});

test("an unknown chain has no tokens, not even a native token", () => {
  const { book } = world();
  expect(book.token(1, NATIVE_CURRENCY)).toBeUndefined();
  expect(book.token(1, address("c1"))).toBeUndefined();
  expect(book.listTokens(1)).toEqual([]);
});

test("lists the configured currencies, native token first, then the listed ones that are not configured", () => {
  const { book, state } = world({
    lists: [listed(usdcOn(ORIGIN), "FALSE"), listed(address("b1"), "LISTED")],
  });
  const named = book.listTokens(ORIGIN);
  expect(named.map(({ symbol }) => symbol)).toEqual(["ETH", "USDC", "WETH", "RARE", "LOCKED", "LISTED"]);
  expect(book.listTokens(ORIGIN)).toBe(named);
  state.lists = [listed(address("b2"), "NEW")];
  expect(book.listTokens(ORIGIN).at(-1)?.symbol).toBe("NEW");
});
