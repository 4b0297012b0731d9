import type { Hex } from "../ids/hex.ts";

/**
 * Where money lies on the perpetuals exchange. Its currencies are written as the token's 16 bytes, and behind
 * them the name of the dex in ASCII when it is neither the first dex nor spot; the first dex's dollars are
 * sixteen zero bytes.
 */
export type ExchangePlace =
  /** The first dex: dollars that are margin there. */
  | { readonly kind: "perps" }
  | { readonly kind: "spot"; readonly tokenId: Hex }
  /** Another dex. */
  | { readonly kind: "dex"; readonly tokenId: Hex; readonly dex: string };

/** The currency of dollars on the first dex. */
export const PERPS_CURRENCY: Hex = `0x${"0".repeat(32)}`;

/** Digits after the point of {@link PERPS_CURRENCY}. */
export const PERPS_DECIMALS = 8;

/** The token that is dollars on the real exchange's main network. */
export const MAINNET_USDC_TOKEN_ID: Hex = "0x6d1e7cde53ba9467b783cb7c530ce054";

const TOKEN_ID = /^0x[0-9a-f]{32}$/;
/**
 * What the exchange lets dexes be called, and what can be part of a currency: visible ASCII, as many bytes as
 * a currency has room for.
 */
const DEX_NAME = /^[\x21-\x7e]{1,32}$/;

/** The place that a currency (lower-case hex) stands for; undefined when it stands for none. */
export function exchangePlaceOf(currency: string): ExchangePlace | undefined {
  if (currency === PERPS_CURRENCY) return { kind: "perps" };
  const tokenId = currency.slice(0, 34);
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY) return undefined;
  if (currency.length === 34) return { kind: "spot", tokenId: tokenId as Hex };
  const rest = currency.slice(34);
  if (!/^(?:[0-9a-f]{2})+$/.test(rest)) return undefined;
  const dex = Buffer.from(rest, "hex").toString("latin1");
  return isOtherDex(dex) ? { kind: "dex", tokenId: tokenId as Hex, dex } : undefined;
}

/**
 * How the currency of a place is written.
 *
 * @throws RangeError for a token id or a name that cannot be part of one
 */
export function exchangeCurrency(place: ExchangePlace): Hex {
  if (place.kind === "perps") return PERPS_CURRENCY;
  const { tokenId } = place;
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY)
    throw new RangeError(`token id must be 16 lower-case hex bytes, got ${tokenId}`);
  if (place.kind === "spot") return tokenId;
  if (!isOtherDex(place.dex)) throw new RangeError(`invalid dex name: ${place.dex}`);
  return `${tokenId}${Buffer.from(place.dex, "latin1").toString("hex")}`;
}

/** How `sendAsset` names where money comes from or goes to: empty for the first dex. */
export function exchangeDexName(place: ExchangePlace): string {
  if (place.kind === "perps") return "";
  return place.kind === "spot" ? "spot" : place.dex;
}

/**
 * The place that a transfer names. Undefined for what the first dex does not take (only dollars), and for
 * names that no currency can carry.
 */
export function exchangePlaceAt(
  dex: string,
  tokenId: string,
  usdcTokenId: string,
): ExchangePlace | undefined {
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY) return undefined;
  if (dex === "") return tokenId === usdcTokenId ? { kind: "perps" } : undefined;
  if (dex === "spot") return { kind: "spot", tokenId: tokenId as Hex };
  return isOtherDex(dex) ? { kind: "dex", tokenId: tokenId as Hex, dex } : undefined;
}

/** A token as actions write it: `NAME:0x…` with the 16 bytes of its id. */
const TOKEN = /^([^:\s]{1,32}):(0x[0-9a-f]{32})$/;

/**
 * The parts of a token's text; undefined when it is not of that form. The name says nothing: names are not
 * unique.
 */
export function parseExchangeToken(
  text: string,
): { readonly name: string; readonly tokenId: Hex } | undefined {
  const [, name, tokenId] = TOKEN.exec(text) ?? [];
  return name === undefined || tokenId === undefined ? undefined : { name, tokenId: tokenId as Hex };
}

/** How actions write a token. */
export function exchangeTokenText(name: string, tokenId: Hex): string {
  return `${name}:${tokenId}`;
}

function isOtherDex(name: string): boolean {
  return name !== "spot" && DEX_NAME.test(name);
}
