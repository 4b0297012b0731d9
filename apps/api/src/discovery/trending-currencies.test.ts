import type { Address } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  aChain,
  DESTINATION,
  ORIGIN,
  quoteWorld,
  rareOn,
  usdcOn,
  wethOn,
  type QuoteWorldOptions,
} from "../../../../test/fakes/quote-world.ts";
import { foreignToken } from "../markets/tokens/foreign-token.adapter.ts";
import type { TrendingQuestion } from "./trending-currencies.ts";
import type { TokenTraffic } from "../markets/tokens/token-traffic.port.ts";
import { trendingCurrencies } from "./trending-currencies.ts";

const LISTED: Address = `0x${"b1".repeat(20)}`;

const listed = foreignToken({
  chainId: ORIGIN,
  address: LISTED,
  symbol: "LISTED",
  name: "Listed",
  decimals: 18,
  logoUri: undefined,
  verified: true,
});

/** `day` and `week`: requests and whole USD. */
function trafficOf(
  chainId: number,
  address: Address,
  day: readonly [requests: number, usd: number],
  week: readonly [requests: number, usd: number],
): TokenTraffic {
  const sums = ([requests, usd]: readonly [number, number]) => ({
    requests,
    microUsd: BigInt(usd) * 1_000_000n,
  });
  return { chainId, address, day: sums(day), week: sums(week) };
}

function trending(
  traffic: readonly TokenTraffic[],
  change: Partial<TrendingQuestion> = {},
  world: QuoteWorldOptions = {},
): string[] {
  const { chains } = quoteWorld(world);
  const tokens = {
    listTokens: (id: number) => {
      const chain = chains.get(id)?.chain;
      return chain === undefined ? [] : [chain.native, ...chain.tokens, ...(id === ORIGIN ? [listed] : [])];
    },
  };
  const question: TrendingQuestion = { chainId: undefined, by: "requests", limit: 4, ...change };
  return trendingCurrencies({ chains, tokens, traffic: { latest: () => traffic } }, question).map(
    ({ symbol, chainId }) => `${symbol}@${chainId === ORIGIN ? "A" : "B"}`,
  );
}

const busy = [
  trafficOf(ORIGIN, usdcOn(ORIGIN), [1, 10], [50, 500]),
  trafficOf(DESTINATION, wethOn(DESTINATION), [3, 5], [3, 5]),
  trafficOf(ORIGIN, LISTED, [3, 1], [9, 2]),
  trafficOf(ORIGIN, rareOn(ORIGIN), [0, 0], [99, 9_999]),
];

test("ranks by requests of the last day, then of the last week", () => {
  expect(trending(busy)).toEqual(["LISTED@A", "WETH@B", "USDC@A", "RARE@A"]);
});

test("ranks by volume on request", () => {
  expect(trending(busy, { by: "volume" })).toEqual(["USDC@A", "WETH@B", "LISTED@A", "RARE@A"]);
});

test("fills up with featured currencies, without duplicates", () => {
  expect(trending(busy, { limit: 7 }).slice(4)).toEqual(["ETH@A", "ETH@B", "USDC@B"]);
  expect(trending([])).toEqual(["ETH@A", "ETH@B", "USDC@A", "USDC@B"]);
});

test("an unverified token does not trend", () => {
  const stranger = trafficOf(ORIGIN, `0x${"66".repeat(20)}`, [1_000, 1_000_000], [1_000, 1_000_000]);
  expect(trending([stranger, ...busy], { limit: 2 })).toEqual(["LISTED@A", "WETH@B"]);
  const tokens = aChain(ORIGIN).tokens.map((token) =>
    token.address === usdcOn(ORIGIN) ? { ...token, verified: false } : token,
  );
  const doubted = trafficOf(ORIGIN, usdcOn(ORIGIN), [9, 9], [9, 9]);
  expect(trending([doubted], { limit: 4 }, { origin: { tokens } })).toEqual([
    "ETH@A",
    "ETH@B",
    "USDC@B",
    "WETH@A",
  ]);
});

test("filters by chain", () => {
  expect(trending(busy, { chainId: DESTINATION, limit: 2 })).toEqual(["WETH@B", "ETH@B"]);
  expect(() => trending(busy, { chainId: 5 })).toThrow("Chain 5 is not supported");
});

test("ties have a stable order, regardless of the order of counting", () => {
  const equal = [NATIVE_CURRENCY, usdcOn(ORIGIN), rareOn(ORIGIN)].map((address) =>
    trafficOf(ORIGIN, address, [1, 1], [1, 1]),
  );
  expect(trending(equal)).toEqual(trending([...equal].reverse()));
});
