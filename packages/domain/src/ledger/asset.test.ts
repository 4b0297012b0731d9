import { expect, test } from "vitest";
import type { Currency } from "../chain/chain.ts";
import { inChargeOrder } from "./asset.ts";

test("charges use the preferred currency first, by any of its names, then the others by address", () => {
  const currency = (address: string, symbol: string): Currency =>
    ({ address, symbol, id: symbol.toLowerCase(), priceId: `price-${symbol}` }) as Currency;
  const currencies = [
    currency("0x0", "ETH"),
    currency("0xc", "USDC"),
    currency("0xb", "DAI"),
    currency("0xa", "X"),
  ];
  const order = (preferred: string) => inChargeOrder(currencies, preferred).map(({ symbol }) => symbol);
  for (const name of ["USDC", "usdc", "PRICE-usdc"]) expect(order(name)).toEqual(["USDC", "ETH", "X", "DAI"]);
  expect(order("nothing")).toEqual(["ETH", "X", "DAI", "USDC"]);
});
