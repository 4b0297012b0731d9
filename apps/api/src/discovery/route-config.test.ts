import { gasCostWei, NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  aChain,
  defaultGasPrices,
  DESTINATION,
  ORIGIN,
  quoteWorld,
  rareOn,
  solver,
  user,
  usdcOn,
  type QuoteWorldOptions,
} from "../../../../test/fakes/quote-world.ts";
import type { RouteConfigQuestion } from "./route-config.ts";
import { measuredQuoteGas } from "../quotes/quote-gas.ts";
import { routeConfig } from "./route-config.ts";

const config = (world: QuoteWorldOptions, change: Partial<RouteConfigQuestion> = {}) =>
  routeConfig(quoteWorld(world), {
    originChainId: ORIGIN,
    destinationChainId: DESTINATION,
    user,
    currency: "usdc",
    ...change,
  });

test("a user can bridge their balance, up to the solver's inventory on the destination", async () => {
  const world = { account: { balance: 70n }, inventory: 100n, reserved: 40n };
  expect(await config(world)).toEqual({
    enabled: true,
    user: { balance: "70", maxBridgeAmount: "60" },
    solver: { address: solver, balance: "60", capacityPerRequest: "60" },
    supportsExternalLiquidity: false,
  });
  expect((await config({ ...world, account: { balance: 7n } })).user).toEqual({
    balance: "7",
    maxBridgeAmount: "7",
  });
});

test("reports whether external services are asked for swaps", async () => {
  const configWith = (names: readonly string[]) =>
    routeConfig(
      { ...quoteWorld({}), liquidity: { sources: () => names } },
      { originChainId: ORIGIN, destinationChainId: DESTINATION, user: undefined, currency: "usdc" },
    );
  expect((await configWith([])).supportsExternalLiquidity).toBe(false);
  expect((await configWith(["somebody-else"])).supportsExternalLiquidity).toBe(true);
});

test("defaults to the native currency, whose fill pays its gas from the same balance", async () => {
  const inventory = 10n ** 18n;
  const { fees } = aChain(DESTINATION);
  const gas = gasCostWei(
    measuredQuoteGas.fill.nativeToContract,
    defaultGasPrices,
    fees.minPriorityFeeWei,
    fees.gasMarginBps,
  );
  const { solver: result } = await config({ inventory }, { currency: undefined });
  expect(result.balance).toBe(inventory.toString());
  expect(result.capacityPerRequest).toBe((inventory - gas).toString());
  expect((await config({ inventory: gas }, { currency: undefined })).solver.capacityPerRequest).toBe("0");
});

test("one fill never exceeds the currency's limit", async () => {
  const { solver: result } = await config({}, { currency: rareOn(ORIGIN) });
  expect(result.capacityPerRequest).toBe((10n ** 21n).toString());
});

test("amounts are in the units of their chain", async () => {
  const tokens = aChain(DESTINATION).tokens.map((token) =>
    token.address === usdcOn(DESTINATION) ? { ...token, decimals: 18 } : token,
  );
  const world = { inventory: 5n * 10n ** 18n, destination: { tokens }, account: { balance: 9_000_000n } };
  expect(await config(world)).toMatchObject({
    user: { maxBridgeAmount: "5000000" },
    solver: { balance: (5n * 10n ** 18n).toString() },
  });
});

test("accepts a currency by address, id or symbol", async () => {
  for (const currency of [usdcOn(ORIGIN), usdcOn(ORIGIN).toUpperCase(), "usdc", "USDC"])
    expect(await config({}, { currency })).toMatchObject({ enabled: true });
  await expect(config({}, { currency: "doge" })).rejects.toMatchObject({
    code: "UNSUPPORTED_CURRENCY",
    facts: { field: "currency" },
  });
});

test("a route without quotes is not enabled and has no capacity", async () => {
  const off = [
    config({ origin: { disabled: true } }),
    config({ destination: { disabled: true } }),
    config({ destination: { depositEnabled: false } }),
    config({}, { currency: "locked" }),
    config({ destination: { tokens: [] } }),
    config({}, { destinationChainId: ORIGIN }),
  ];
  for (const answer of await Promise.all(off))
    expect(answer).toMatchObject({
      enabled: false,
      user: { maxBridgeAmount: "0" },
      solver: { capacityPerRequest: "0" },
    });
});

test("without a user no chain is called", async () => {
  const { user: result } = await config(
    { readerFails: true },
    { user: undefined, currency: NATIVE_CURRENCY },
  );
  expect(result).toEqual({ balance: "0", maxBridgeAmount: "0" });
});

test("refuses invalid input, naming the field", async () => {
  await expect(config({}, { originChainId: 5 })).rejects.toMatchObject({
    code: "UNSUPPORTED_CHAIN",
    facts: { field: "originChainId" },
  });
  await expect(config({}, { destinationChainId: 5 })).rejects.toMatchObject({
    code: "UNSUPPORTED_CHAIN",
    facts: { field: "destinationChainId" },
  });
  await expect(config({}, { user: "me" })).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "user" },
  });
  await expect(config({ readerFails: true })).rejects.toMatchObject({ code: "RPC_HTTP_ERROR" });
});
