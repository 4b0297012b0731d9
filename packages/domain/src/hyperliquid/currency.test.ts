import fc from "fast-check";
import { expect, test } from "vitest";
import type { Hex } from "../ids/hex.ts";
import {
  hyperliquidCurrency,
  dexNameOf,
  hyperliquidPlaceAt,
  hyperliquidPlaceOf,
  MAINNET_USDC_TOKEN_ID,
  parseHyperliquidToken,
  PERPS_CURRENCY,
  type HyperliquidPlace,
} from "./currency.ts";

const tokenId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .filter((bytes) => bytes.some((byte) => byte > 0))
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const dexName = fc
  .stringMatching(/^[\x21-\x7e]{1,32}$/)
  .filter((name) => name !== "spot" && name.length <= 32);
const aPlace: fc.Arbitrary<HyperliquidPlace> = fc.oneof(
  fc.constant<HyperliquidPlace>({ kind: "perps" }),
  tokenId.map((id): HyperliquidPlace => ({ kind: "spot", tokenId: id })),
  fc.record({ tokenId, dex: dexName }).map((fields): HyperliquidPlace => ({ kind: "dex", ...fields })),
);

test("every place has one currency, which maps back to the place", () => {
  fc.assert(
    fc.property(aPlace, (place) => {
      const currency = hyperliquidCurrency(place);
      expect(hyperliquidPlaceOf(currency)).toEqual(place);
    }),
  );
});

test("a transfer's dex and token identify the place, and the place identifies the dex", () => {
  fc.assert(
    fc.property(aPlace, (place) => {
      const id = place.kind === "perps" ? MAINNET_USDC_TOKEN_ID : place.tokenId;
      expect(hyperliquidPlaceAt(dexNameOf(place), id, MAINNET_USDC_TOKEN_ID)).toEqual(place);
    }),
  );
});

test("the currencies of the contract: perps USDC, spot USDC, USDC on a dex", () => {
  expect(hyperliquidCurrency({ kind: "perps" })).toBe("0x00000000000000000000000000000000");
  expect(hyperliquidCurrency({ kind: "spot", tokenId: MAINNET_USDC_TOKEN_ID })).toBe(
    "0x6d1e7cde53ba9467b783cb7c530ce054",
  );
  expect(hyperliquidCurrency({ kind: "dex", tokenId: MAINNET_USDC_TOKEN_ID, dex: "xyz" })).toBe(
    "0x6d1e7cde53ba9467b783cb7c530ce05478797a",
  );
});

test("the first dex holds only USDC", () => {
  const otherToken: Hex = `0x${"ab".repeat(16)}`;
  expect(hyperliquidPlaceAt("", otherToken, MAINNET_USDC_TOKEN_ID)).toBeUndefined();
  expect(hyperliquidPlaceAt("", MAINNET_USDC_TOKEN_ID, MAINNET_USDC_TOKEN_ID)).toEqual({ kind: "perps" });
});

test("no token is mistaken for the USDC of the first dex, and no dex for spot", () => {
  expect(hyperliquidPlaceAt("spot", PERPS_CURRENCY, MAINNET_USDC_TOKEN_ID)).toBeUndefined();
  expect(() => hyperliquidCurrency({ kind: "spot", tokenId: PERPS_CURRENCY })).toThrow(RangeError);
  expect(() => hyperliquidCurrency({ kind: "dex", tokenId: MAINNET_USDC_TOKEN_ID, dex: "spot" })).toThrow();
  const spot = Buffer.from("spot").toString("hex");
  expect(hyperliquidPlaceOf(`${MAINNET_USDC_TOKEN_ID}${spot}`)).toBeUndefined();
});

test("a non-ASCII name, or a text that is not a currency, is no place", () => {
  for (const text of [
    "0x",
    `${MAINNET_USDC_TOKEN_ID}0`,
    `${MAINNET_USDC_TOKEN_ID}ff`,
    `${MAINNET_USDC_TOKEN_ID}20`,
    MAINNET_USDC_TOKEN_ID.toUpperCase(),
    `${PERPS_CURRENCY}78`,
    `${MAINNET_USDC_TOKEN_ID}${"78".repeat(33)}`,
  ])
    expect(hyperliquidPlaceOf(text), text).toBeUndefined();
});

test("a token's text is its name and its id in lower case, and nothing else", () => {
  expect(parseHyperliquidToken(`USDC:${MAINNET_USDC_TOKEN_ID}`)).toEqual({
    name: "USDC",
    tokenId: MAINNET_USDC_TOKEN_ID,
  });
  for (const text of [
    "USDC",
    `:${MAINNET_USDC_TOKEN_ID}`,
    `USDC:${MAINNET_USDC_TOKEN_ID.toUpperCase()}`,
    `USDC:${MAINNET_USDC_TOKEN_ID}00`,
    `A:B:${MAINNET_USDC_TOKEN_ID}`,
    `USDC:${MAINNET_USDC_TOKEN_ID}\n`,
  ])
    expect(parseHyperliquidToken(text), JSON.stringify(text)).toBeUndefined();
});
