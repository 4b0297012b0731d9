import { ConfigError } from "@causeway/config";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import { readSigningRules } from "./signing-rules.ts";

const native = { address: NATIVE_CURRENCY, decimals: 18, maxPriceUsd: "6000" };
const usdc = { address: `0x${"Ab".repeat(20)}`, decimals: 6, maxPriceUsd: "1.05" };
const chain = { chainId: 8453, maxFeePerGasGwei: "50", currencies: [native, usdc] };
const rules = { key: "solver", transactionUsd: "75000", dayUsd: "500000", chains: [chain] };

function problemsOf(value: unknown): readonly string[] {
  try {
    readSigningRules(typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("reads limits, currencies and contracts by chain", () => {
  const router = `0x${"Cd".repeat(20)}`;
  const signingRules = readSigningRules(JSON.stringify({ ...rules, chains: [{ ...chain, router }] }));
  expect(signingRules).toMatchObject({ key: "solver", dayUsd: 500_000n * 10n ** 18n });
  const baseRules = signingRules.chains.get(8453);
  expect(baseRules).toMatchObject({
    maxFeePerGasWei: 50_000_000_000n,
    dataFeeUsdPerKb: 0n,
    contracts: { router: router.toLowerCase() },
    hubContracts: [],
  });
  expect(baseRules?.currencies.get(`0x${"ab".repeat(20)}`)).toEqual({
    decimals: 6,
    priceUsd: 105n * 10n ** 16n,
  });
});

test.for<[unknown, string]>([
  ["{", "SIGNING_RULES must be JSON"],
  [{ ...rules, key: "allocator" }, "SIGNING_RULES key must be solver or executor"],
  [{ ...rules, dayUsd: 5 }, "SIGNING_RULES dayUsd must be a decimal number as text"],
  [{ ...rules, chains: [] }, "SIGNING_RULES chains must have at least one chain"],
  [{ ...rules, chains: [chain, chain] }, "SIGNING_RULES chains has chain 8453 twice"],
  [{ ...rules, chains: [{ ...chain, currencies: [usdc] }] }, "must include the native token"],
  [
    { ...rules, chains: [{ ...chain, currencies: [{ ...native, maxPriceUsd: "0" }] }] },
    "SIGNING_RULES chains 0 currencies 0 maxPriceUsd must be above 0",
  ],
  [{ ...rules, chains: [{ ...chain, router: "0x12" }] }, "SIGNING_RULES chains 0 router must be an address"],
  [{ ...rules, dailyUsd: "1" }, "dailyUsd"],
])("%j is refused: %s", ([value, problem]) => {
  expect(problemsOf(value).join("\n")).toContain(problem);
});
