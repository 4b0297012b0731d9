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
  type World,
} from "../../../../test/fakes/quote-world.ts";
import type { RouteConfigQuestion } from "./route-config.ts";
import { measuredQuoteGas } from "../quotes/quote-gas.ts";
import { routeConfig } from "./route-config.ts";

const config = (world: World, change: Partial<RouteConfigQuestion> = {}) =>
  routeConfig(quoteWorld(world), {
    originChainId: ORIGIN,
    destinationChainId: DESTINATION,
    user,
    currency: "usdc",
    ...change,
  });

test("a user can bridge what he has, as far as the solver has it on the other side", async () => {
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

test("clients are told when services of others are asked for exchanges", async () => {
  const asking = (names: readonly string[]) =>
    routeConfig(
      { ...quoteWorld({}), liquidity: { sources: () => names } },
      { originChainId: ORIGIN, destinationChainId: DESTINATION, user: undefined, currency: "usdc" },
    );
  expect((await asking([])).supportsExternalLiquidity).toBe(false);
  expect((await asking(["somebody-else"])).supportsExternalLiquidity).toBe(true);
});

test("without a currency it is the native one, whose fill pays its own gas from the same balance", async () => {
  const inventory = 10n ** 18n;
  const { fees } = aChain(DESTINATION);
  const gas = gasCostWei(
    measuredQuoteGas.fill.nativeToContract,
    defaultGasPrices,
    fees.minPriorityFeeWei,
    fees.gasMarginBps,
  );
  const { solver: told } = await config({ inventory }, { currency: undefined });
  expect(told.balance).toBe(inventory.toString());
  expect(told.capacityPerRequest).toBe((inventory - gas).toString());
  expect((await config({ inventory: gas }, { currency: undefined })).solver.capacityPerRequest).toBe("0");
});

test("one fill is never more than the currency's bound", async () => {
  const { solver: told } = await config({}, { currency: rareOn(ORIGIN) });
  expect(told.capacityPerRequest).toBe((10n ** 21n).toString());
});

test("amounts count in the units of their chain", async () => {
  const tokens = aChain(DESTINATION).tokens.map((token) =>
    token.address === usdcOn(DESTINATION) ? { ...token, decimals: 18 } : token,
  );
  const world = { inventory: 5n * 10n ** 18n, destination: { tokens }, account: { balance: 9_000_000n } };
  expect(await config(world)).toMatchObject({
    user: { maxBridgeAmount: "5000000" },
    solver: { balance: (5n * 10n ** 18n).toString() },
  });
});

test("currencies go by address, id or symbol", async () => {
  for (const currency of [usdcOn(ORIGIN), usdcOn(ORIGIN).toUpperCase(), "usdc", "USDC"])
    expect(await config({}, { currency })).toMatchObject({ enabled: true });
  await expect(config({}, { currency: "doge" })).rejects.toMatchObject({
    code: "UNSUPPORTED_CURRENCY",
    facts: { field: "currency" },
  });
});

test("a route that takes no quotes is not enabled and has no capacity", async () => {
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

test("without a user nothing is asked of a chain", async () => {
  const { user: told } = await config({ readerFails: true }, { user: undefined, currency: NATIVE_CURRENCY });
  expect(told).toEqual({ balance: "0", maxBridgeAmount: "0" });
});

test("what cannot be answered is refused by the field at fault", async () => {
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
