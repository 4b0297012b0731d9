import type { Address } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import { noPools } from "../../../../test/fakes/pair-liquidity.ts";
import { ORIGIN, quoteWorld, usdcOn } from "../../../../test/fakes/quote-world.ts";
import { foreignToken } from "../markets/tokens/foreign-token.adapter.ts";
import { tokenPrice, type TokenPriceServices } from "./token-price.ts";

const USD = 10n ** 18n;
const FOREIGN: Address = `0x${"c1".repeat(20)}`;

const foreign = foreignToken({
  chainId: ORIGIN,
  address: FOREIGN,
  symbol: "FRN",
  name: "Foreign",
  decimals: 18,
  logoUri: undefined,
  verified: false,
});

function services(change: Partial<TokenPriceServices> = {}): TokenPriceServices {
  const { chains, prices } = quoteWorld();
  return {
    chains,
    prices,
    ...noPools,
    tokens: { token: (_chain, address) => (address === FOREIGN ? foreign : undefined) },
    ...change,
  };
}

test("configured currencies have the price of their source", async () => {
  expect(await tokenPrice(services(), ORIGIN, NATIVE_CURRENCY)).toBe(2_000n * USD);
  expect(await tokenPrice(services(), ORIGIN, usdcOn(ORIGIN).toUpperCase())).toBe(USD);
});

test("a token without a source has the price of its pools", async () => {
  const priced = services({ poolUsd: (token) => (token === foreign ? 7n * USD : undefined) });
  expect(await tokenPrice(priced, ORIGIN, FOREIGN)).toBe(7n * USD);
});

test("refuses a token without a price, with the reason", async () => {
  await expect(tokenPrice(services(), ORIGIN, FOREIGN)).rejects.toMatchObject({
    code: "UNSUPPORTED_CURRENCY",
    message: "No price of FRN available",
    facts: { field: "address" },
  });
  await expect(tokenPrice(services(), ORIGIN, `0x${"dd".repeat(20)}`)).rejects.toMatchObject({
    code: "UNSUPPORTED_CURRENCY",
    message: expect.stringContaining("address is not a token contract on ") as string,
  });
  await expect(tokenPrice(services(), 5, NATIVE_CURRENCY)).rejects.toMatchObject({
    code: "UNSUPPORTED_CHAIN",
    facts: { field: "chainId" },
  });
  await expect(tokenPrice(services(), ORIGIN, "eth")).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "address" },
  });
});

test("reads pools that were never requested before", async () => {
  const { chains } = quoteWorld({
    origin: { liquidity: { wrappedNative: undefined, connectors: [usdcOn(ORIGIN)], sources: [] } },
  });
  const poolState = { pools: false, fails: false };
  const pooled = services({
    chains,
    poolUsd: () => (poolState.pools ? 7n * USD : undefined),
    liquidity: {
      exactIn: async ({ tokenIn, tokenOut }) => {
        expect([tokenIn, tokenOut]).toEqual([FOREIGN, usdcOn(ORIGIN)]);
        await Promise.resolve();
        if (poolState.fails) throw new ServiceError("RPC_HTTP_ERROR", "down");
        poolState.pools = true;
        return undefined;
      },
    },
  });
  poolState.fails = true;
  await expect(tokenPrice(pooled, ORIGIN, FOREIGN)).rejects.toMatchObject({ code: "RPC_HTTP_ERROR" });
  poolState.fails = false;
  expect(await tokenPrice(pooled, ORIGIN, FOREIGN)).toBe(7n * USD);
});

test("a failure to read a price is an error, not a currency without a price", async () => {
  const fault = new ServiceError("PRICE_FETCH_FAILED", "down");
  const down = services({ prices: { usd: () => Promise.reject(fault) } });
  await expect(tokenPrice(down, ORIGIN, NATIVE_CURRENCY)).rejects.toBe(fault);
});
