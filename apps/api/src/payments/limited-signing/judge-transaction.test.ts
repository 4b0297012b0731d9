import type { UnsignedTransaction } from "@causeway/chains";
import { NATIVE_CURRENCY, type Address } from "@causeway/domain";
import { expect, test } from "vitest";
import { judgeTransaction } from "./judge-transaction.ts";
import type { SigningRules } from "./signing-rules.port.ts";

const ONE_USD = 10n ** 18n;
const USDC: Address = `0x${"c0".repeat(20)}`;
const ALICE: Address = `0x${"a1".repeat(20)}`;

const rules: SigningRules = {
  key: "solver",
  transactionUsd: 100n * ONE_USD,
  dayUsd: 1_000n * ONE_USD,
  chains: new Map([
    [
      10,
      {
        maxFeePerGasWei: 100n,
        dataFeeUsdPerKb: ONE_USD,
        currencies: new Map([
          [NATIVE_CURRENCY, { decimals: 18, priceUsd: 2_000n * ONE_USD }],
          [USDC, { decimals: 6, priceUsd: ONE_USD }],
        ]),
        contracts: {},
        hubContracts: [],
      },
    ],
  ]),
};
const transaction = {
  chainId: 10,
  nonce: 1,
  to: ALICE,
  value: 0n,
  data: "0x",
  gas: 21_000n,
  maxFeePerGas: 100n,
  maxPriorityFeePerGas: 1n,
} as const;

const transfer = (amount: bigint) => {
  const word = (value: bigint): string => value.toString(16).padStart(64, "0");
  return { to: USDC, data: `0xa9059cbb${word(BigInt(ALICE))}${word(amount)}` } as const;
};

test.each<[string, Partial<UnsignedTransaction>, bigint]>([
  ["native tokens at their highest price", { value: 10n ** 16n }, 20n * ONE_USD],
  ["a token at its highest price", transfer(5_000_000n), 5n * ONE_USD],
  ["gas at its maximum", { gas: 10n ** 14n }, 20n * ONE_USD],
  ["no more for an order id", { data: `0x${"00".repeat(32)}`, gas: 10n ** 14n }, 20n * ONE_USD],
])("counts %s, and the fee for data", (_, change, expected) => {
  const judged = judgeTransaction(rules, { ...transaction, ...change });
  const gas = "gas" in change ? 0n : 2_000n * 21_000n * 100n;
  expect(judged).toEqual({ kind: "allowed", usd: expected + ONE_USD + gas });
});

test("refuses what it cannot price or decode, and what exceeds a limit", () => {
  const ruleOf = (change: object) => {
    const judged = judgeTransaction(rules, { ...transaction, ...change });
    return judged.kind === "refused" ? judged.refusal.rule : "allowed";
  };
  expect(ruleOf({ ...transfer(98_000_000n) })).toBe("allowed");
  expect(ruleOf({ ...transfer(99_000_001n) })).toBe("transaction");
  expect(ruleOf({ ...transfer(1n), to: ALICE })).toBe("currency");
  expect(ruleOf({ ...transfer(1n), value: 1n })).toBe("call");
  expect(ruleOf({ data: "0x12345678" })).toBe("call");
  expect(ruleOf({ chainId: 11 })).toBe("call");
  expect(ruleOf({ maxFeePerGas: 101n })).toBe("fee");
});

test("refuses calls that move the executor's own tokens, and counts the data of its authorizations", () => {
  const executor: SigningRules = { ...rules, key: "executor" };
  for (const selector of ["0xa9059cbb", "0x23b872dd", "0x095ea7b3", "0x39509351"] as const)
    expect(judgeTransaction(executor, { ...transaction, data: selector })).toMatchObject({
      refusal: { rule: "call", found: selector },
    });
  const authorization = { chainId: 10, address: ALICE, nonce: 0, r: "0x1", s: "0x1", yParity: 0 } as const;
  const gas = 2_000n * 21_000n * 100n;
  for (const [count, kilobytes] of [
    [7, 1n],
    [8, 2n],
  ] as const) {
    const authorizationList = Array.from({ length: count }, () => authorization);
    expect(judgeTransaction(executor, { ...transaction, authorizationList })).toEqual({
      kind: "allowed",
      usd: kilobytes * ONE_USD + gas,
    });
  }
});
