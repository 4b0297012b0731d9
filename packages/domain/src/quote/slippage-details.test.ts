import { expect, test } from "vitest";
import { pow10 } from "../money/pow10.ts";
import { slippageDetails } from "./slippage-details.ts";

const usdc = { decimals: 6, priceUsd: pow10(18) };
const eth = { decimals: 18, priceUsd: 2_000n * pow10(18) };

test("slippage states by how much the output may be smaller on the destination", () => {
  const short = { missing: 5n * 10n ** 15n, total: 10n ** 18n, unit: eth };
  expect(slippageDetails(50, short, undefined)).toEqual({
    origin: { usd: "0.000000", value: "0", percent: "0.00" },
    destination: { usd: "10.000000", value: "5000000000000000", percent: "0.50" },
    total: "50",
  });
});

test("slippage of a swap before the deposit is in the deposit's currency", () => {
  const origin = { missing: 3_000_000n, total: 1_000_000_000n, unit: usdc };
  expect(slippageDetails(30, { missing: 0n, total: 1n, unit: eth }, origin)).toEqual({
    origin: { usd: "3.000000", value: "3000000", percent: "0.30" },
    destination: { usd: "0.000000", value: "0", percent: "0.00" },
    total: "30",
  });
});
