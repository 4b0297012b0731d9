import { hyperliquidCurrency, MAINNET_USDC_TOKEN_ID } from "@causeway/domain";
import { expect, test } from "vitest";
import { hyperliquidCodec } from "./address-codec.ts";

test.each([
  { kind: "perps" },
  { kind: "spot", tokenId: MAINNET_USDC_TOKEN_ID },
  { kind: "dex", tokenId: MAINNET_USDC_TOKEN_ID, dex: "a" },
  { kind: "dex", tokenId: MAINNET_USDC_TOKEN_ID, dex: "d".repeat(32) },
] as const)("encodes the currency of $kind as itself", (place) => {
  const currency = hyperliquidCurrency(place);
  expect(hyperliquidCodec.encode(currency)).toBe(currency);
});
