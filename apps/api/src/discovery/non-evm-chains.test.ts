import { mismatch } from "@causeway/service-kit";
import { chainHealthAnswer, chainLiquidityAnswer, currenciesAnswer, currenciesRequest } from "@causeway/wire";
import { expect, test } from "vitest";
import { ORIGIN, quoteWorld, usdcOn, user } from "../../../../test/fakes/quote-world.ts";
import {
  aConnectedNonEvmChain,
  bitcoin,
  hyperliquid,
  solana,
} from "../../../../test/fakes/non-evm-chains.ts";
import type { NonEvmScenario } from "../../../../test/fakes/non-evm-chains.ts";
import { createTokenBook } from "../markets/tokens/token-book.adapter.ts";
import { chainHealth } from "./chain-health.ts";
import { chainLiquidity } from "./chain-liquidity.ts";
import { routeConfig } from "./route-config.ts";
import { createCurrencySearch } from "./search-currencies.ts";
import { tokenPrice } from "./token-price.ts";
import { trendingCurrencies } from "./trending-currencies.ts";

// Discovery of non-EVM chains: the same questions, in the formats of those chains.

const SOLANA = 792_703_809;
const BITCOIN = 8_253_038;
const EXCHANGE = 1_337;

function worldOf(svm: NonEvmScenario = {}) {
  const world = quoteWorld({
    nonEvmChains: [
      aConnectedNonEvmChain("svm", { users: { balance: async () => 5_000_000n }, ...svm }),
      aConnectedNonEvmChain("bvm"),
      aConnectedNonEvmChain("hypevm"),
    ],
  });
  const tokens = createTokenBook({
    chains: world.chains,
    lists: { get: () => undefined, tokensOf: () => [] },
    unlisted: { token: async () => undefined },
  });
  return { ...world, tokens };
}

const search = async (question: object) =>
  await createCurrencySearch(worldOf())(currenciesRequest.parse(question));

test("finds currencies by their own addresses and returns them in that format", async () => {
  const found = await search({ address: solana.usdc });
  expect(found).toEqual([
    {
      id: "usdc",
      chainId: SOLANA,
      address: solana.usdc,
      symbol: "USDC",
      name: "USDC",
      decimals: 6,
      vmType: "svm",
      metadata: { logoURI: "", verified: true, isNative: false },
    },
  ]);
  expect(mismatch(currenciesAnswer, found)).toBeUndefined();
  expect((await search({ term: bitcoin.native })).map(({ symbol }) => symbol)).toEqual(["BTC"]);
  expect((await search({ term: "sol" }))[0]).toMatchObject({
    address: solana.native,
    metadata: { isNative: true },
  });
  expect((await search({ chainIds: [EXCHANGE] })).map(({ address }) => address)).toEqual([
    hyperliquid.perps,
    hyperliquid.spot,
  ]);
});

test("finds one asset on all its chains, and several tokens at once", async () => {
  const found = await search({ currencyId: "usdc" });
  expect(found.map(({ chainId }) => chainId)).toEqual(expect.arrayContaining([ORIGIN, SOLANA, EXCHANGE]));
  const exact = await search({ tokens: [`${SOLANA}:${solana.usdc}`, `${ORIGIN}:${usdcOn(ORIGIN)}`] });
  expect(exact.map(({ chainId }) => chainId).toSorted()).toEqual([ORIGIN, SOLANA].toSorted());
  await expect(search({ tokens: [`${SOLANA}:${usdcOn(ORIGIN)}`] })).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "tokens" },
  });
  await expect(search({ address: "nobody" })).rejects.toMatchObject({ code: "INVALID_ADDRESS" });
});

test("lists no deposit addresses for currencies of non-EVM chains", async () => {
  expect(await search({ chainIds: [SOLANA, BITCOIN, EXCHANGE], depositAddressOnly: true })).toEqual([]);
});

test("returns prices of configured currencies by their own address", async () => {
  const services = worldOf();
  expect(await tokenPrice(services, SOLANA, solana.native)).toBe(100n * 10n ** 18n);
  expect(await tokenPrice(services, BITCOIN, bitcoin.native)).toBe(50_000n * 10n ** 18n);
  await expect(tokenPrice(services, SOLANA, usdcOn(ORIGIN))).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
  });
  await expect(tokenPrice(services, SOLANA, solana.user)).rejects.toMatchObject({
    code: "UNSUPPORTED_CURRENCY",
  });
});

test("reports the solver's liquidity and the chain's health", async () => {
  const services = worldOf();
  const liquidity = await chainLiquidity(services, SOLANA);
  expect(mismatch(chainLiquidityAnswer, liquidity)).toBeUndefined();
  expect(liquidity.liquidity[1]).toMatchObject({ address: solana.usdc, balance: "100000000000" });
  const healthy = chainHealth(services, BITCOIN, undefined);
  expect(mismatch(chainHealthAnswer, healthy)).toBeUndefined();
  expect(healthy).toMatchObject({ healthy: true, pricesGas: true, blockNumber: null });
  expect(chainHealth(worldOf({ isLagging: true }), SOLANA, undefined)).toMatchObject({
    healthy: false,
    blockProductionLagging: true,
  });
  expect(chainHealth(worldOf({ chain: { disabled: true } }), SOLANA, undefined)).toMatchObject({
    healthy: false,
  });
});

test("featured currencies of every chain are included in trending", () => {
  const { chains, tokens } = worldOf();
  const listed = trendingCurrencies(
    { chains, tokens, traffic: { latest: () => [] } },
    { chainId: undefined, by: "requests", limit: 100 },
  );
  expect(listed.map(({ address }) => address)).toEqual(
    expect.arrayContaining([solana.native, bitcoin.native, hyperliquid.spot]),
  );
});

test("reports the capacity between chains of two families", async () => {
  const services = worldOf();
  const question = {
    originChainId: SOLANA,
    destinationChainId: ORIGIN,
    user: solana.user,
    currency: solana.usdc,
  };
  expect(await routeConfig(services, question)).toMatchObject({
    enabled: true,
    user: { balance: "5000000", maxBridgeAmount: "5000000" },
  });
  await expect(routeConfig(services, { ...question, user })).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "user" },
  });
  const back = await routeConfig(services, {
    originChainId: ORIGIN,
    destinationChainId: SOLANA,
    user: undefined,
    currency: "usdc",
  });
  // The gas of a token payment does not reduce the token's capacity.
  expect(back).toMatchObject({ enabled: true, solver: { capacityPerRequest: "100000000000" } });
});
