import type { Chain, Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import { appBalancePolicy } from "./app-balance-policy.ts";

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
  appBalanceClaimSeconds: 600,
};
const ids = (policy: ReturnType<typeof appBalancePolicy>): string[] => policy.currencies.map(({ id }) => id);

test("without settings the first chain is home, dollars are taken first, and a top-up waits as long as the largest deposit", () => {
  const policy = appBalancePolicy(unset, chains);
  expect(policy).toMatchObject({ chainId: 1, confirmations: 12, claimLifetimeSeconds: 600 });
  expect(policy.minTopUpUsd).toBe(10n ** 17n);
  expect(ids(policy)).toEqual(["usdc", "eth", "dai"]);
});

test("chain, first currency and confirmations are as they are set", () => {
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

test("a chain without the usual currency takes its own by address, and one block is the least", () => {
  const policy = appBalancePolicy({ ...unset, appBalanceChainId: 2 }, chains);
  expect(policy.confirmations).toBe(1);
  expect(ids(policy)).toEqual(["eth", "dai"]);
});

test("a token that the solver does not hold is no balance, and cannot be chosen as one", () => {
  const odd = { ...currency("0xd", "odd"), supportsBridging: false };
  const home = [chain(1, [odd, currency("0xb", "usdc")], [1])];
  expect(ids(appBalancePolicy(unset, home))).toEqual(["usdc", "eth"]);
  expect(() => appBalancePolicy({ ...unset, appBalanceCurrency: "odd" }, home)).toThrow(
    /APP_BALANCE_CURRENCY/,
  );
});

test("a chain that is not enabled and a currency that it does not have stop the start", () => {
  expect(() => appBalancePolicy({ ...unset, appBalanceChainId: 3 }, chains)).toThrow(/APP_BALANCE_CHAIN_ID/);
  expect(() => appBalancePolicy({ ...unset, appBalanceCurrency: "usdt" }, chains)).toThrow(
    /APP_BALANCE_CURRENCY/,
  );
});
