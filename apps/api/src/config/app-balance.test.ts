import type { Chain, Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import { appBalancePolicy } from "./app-balance.ts";

const currency = (address: string, id: string): Currency =>
  ({ address, id, symbol: id.toUpperCase(), priceId: `${id}-coin`, supportsBridging: true }) as Currency;
const chain = (id: number, tokens: readonly Currency[], confirmations: readonly number[]): Chain =>
  ({
    id,
    name: `chain-${id}`,
    native: currency(NATIVE_CURRENCY, "eth"),
    tokens,
    confirmationTiers: confirmations.map((count) => ({ belowUsd: undefined, confirmations: count })),
  }) as unknown as Chain;

const chains = [
  chain(1, [currency("0xb", "usdc"), currency("0xa", "dai")], [1, 12, 3]),
  chain(2, [currency("0xc", "dai")], [0]),
];
const unset = {
  appBalanceChainId: undefined,
  appBalanceCurrency: undefined,
  appBalanceConfirmations: undefined,
  appBalanceMinTopUpUsd: "0.10",
};
const ids = (policy: ReturnType<typeof appBalancePolicy>): string[] => policy.currencies.map(({ id }) => id);

test("by default, balances are on the first chain, USDC is charged first, and top-ups need the confirmations of the strictest tier", () => {
  const policy = appBalancePolicy(unset, chains);
  expect(policy).toMatchObject({ chainId: 1, confirmations: 12, claimLifetimeSeconds: 600 });
  expect(policy.minTopUpUsd).toBe(10n ** 17n);
  expect(ids(policy)).toEqual(["usdc", "eth", "dai"]);
});

test("applies the configured chain, first currency and confirmations", () => {
  const settings = {
    ...unset,
    appBalanceChainId: 2,
    appBalanceCurrency: "DAI-coin",
    appBalanceConfirmations: 7,
  };
  const policy = appBalancePolicy(settings, chains);
  expect(policy).toMatchObject({ chainId: 2, confirmations: 7 });
  expect(ids(policy)).toEqual(["dai", "eth"]);
});

test("on a chain without USDC, currencies follow in order of address, and a top-up needs at least one confirmation", () => {
  const policy = appBalancePolicy({ ...unset, appBalanceChainId: 2 }, chains);
  expect(policy.confirmations).toBe(1);
  expect(ids(policy)).toEqual(["eth", "dai"]);
});

test("excludes tokens that the solver does not hold", () => {
  const odd = { ...currency("0xd", "odd"), supportsBridging: false };
  const homeChains = [chain(1, [odd, currency("0xb", "usdc")], [1])];
  expect(ids(appBalancePolicy(unset, homeChains))).toEqual(["usdc", "eth"]);
  expect(() => appBalancePolicy({ ...unset, appBalanceCurrency: "odd" }, homeChains)).toThrow(
    /APP_BALANCE_CURRENCY/,
  );
});

test("rejects a chain that is not enabled and a currency that the chain does not have", () => {
  expect(() => appBalancePolicy({ ...unset, appBalanceChainId: 3 }, chains)).toThrow(/APP_BALANCE_CHAIN_ID/);
  expect(() => appBalancePolicy({ ...unset, appBalanceCurrency: "usdt" }, chains)).toThrow(
    /APP_BALANCE_CURRENCY/,
  );
});
