import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import { expect, test } from "vitest";
import { optionsOf, readableAmount } from "./order-text.ts";

const usdc: Address = `0x${"11".repeat(20)}`;
const recipient: Address = `0x${"d1".repeat(20)}`;
const base = {
  name: "base",
  native: { address: NATIVE_CURRENCY, symbol: "ETH", decimals: 18 },
  tokens: [{ address: usdc, symbol: "USDC", decimals: 6 }],
} as unknown as Chain;
const chains = { evmChains: [{ chain: base }] };

test("repeats an order as the options that name it", () => {
  expect(optionsOf(chains, { chainName: "base", currency: usdc, amount: 1_500_000n, recipient })).toBe(
    `--amount 1.5 --currency ${usdc} --chain base --recipient ${recipient}`,
  );
  expect(
    optionsOf(chains, { chainName: "base", currency: NATIVE_CURRENCY, amount: 10n ** 17n, recipient }),
  ).toBe(`--amount 0.1 --currency ${NATIVE_CURRENCY} --chain base --recipient ${recipient}`);
});

test("writes amounts with their symbol, and in base units if the currency is no longer configured", () => {
  expect(readableAmount(chains, { chainName: "base", currency: usdc }, 1_200_000n)).toBe("1.2 USDC");
  expect(readableAmount(chains, { chainName: "gone", currency: usdc }, 7n)).toBe("(7 base units)");
  expect(optionsOf(chains, { chainName: "base", currency: recipient, amount: 7n, recipient })).toBe(
    `--amount (7 base units) --currency ${recipient} --chain base --recipient ${recipient}`,
  );
});
