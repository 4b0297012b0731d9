import type { Hex } from "../ids/hex.ts";

/**
 * Where funds are held on Hyperliquid. A currency is the token's 16 bytes, followed by the dex name in ASCII
 * unless it is spot or the first dex; USDC on the first dex is sixteen zero bytes.
 */
export type HyperliquidPlace =
  /** USDC margin on the first dex. */
  | { readonly kind: "perps" }
  | { readonly kind: "spot"; readonly tokenId: Hex }
  /** Another dex. */
  | { readonly kind: "dex"; readonly tokenId: Hex; readonly dex: string };

/** The currency of USDC on the first dex. */
export const PERPS_CURRENCY: Hex = `0x${"0".repeat(32)}`;

/** Decimals of {@link PERPS_CURRENCY}. */
export const PERPS_DECIMALS = 8;

/** The USDC token of Hyperliquid's mainnet. */
export const MAINNET_USDC_TOKEN_ID: Hex = "0x6d1e7cde53ba9467b783cb7c530ce054";

const TOKEN_ID = /^0x[0-9a-f]{32}$/;
/** Dex names that Hyperliquid allows and that fit into a currency: visible ASCII of limited length. */
const DEX_NAME = /^[\x21-\x7e]{1,32}$/;

/** The place that a currency (lower-case hex) encodes; undefined if it is malformed. */
export function hyperliquidPlaceOf(currency: string): HyperliquidPlace | undefined {
  if (currency === PERPS_CURRENCY) return { kind: "perps" };
  const tokenId = currency.slice(0, 34);
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY) return undefined;
  if (currency.length === 34) return { kind: "spot", tokenId: tokenId as Hex };
  const dexHex = currency.slice(34);
  if (!/^(?:[0-9a-f]{2})+$/.test(dexHex)) return undefined;
  const dex = Buffer.from(dexHex, "hex").toString("latin1");
  return isOtherDex(dex) ? { kind: "dex", tokenId: tokenId as Hex, dex } : undefined;
}

/**
 * The currency of a place.
 * @throws RangeError for an invalid token id or name
 */
export function hyperliquidCurrency(place: HyperliquidPlace): Hex {
  if (place.kind === "perps") return PERPS_CURRENCY;
  const { tokenId } = place;
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY)
    throw new RangeError(`token id must be 16 lower-case hex bytes, got ${tokenId}`);
  if (place.kind === "spot") return tokenId;
  if (!isOtherDex(place.dex)) throw new RangeError(`invalid dex name: ${place.dex}`);
  return `${tokenId}${Buffer.from(place.dex, "latin1").toString("hex")}`;
}

/** The name of a place in `sendAsset`: empty for the first dex. */
export function dexNameOf(place: HyperliquidPlace): string {
  if (place.kind === "perps") return "";
  return place.kind === "spot" ? "spot" : place.dex;
}

/**
 * The place that a transfer names. Undefined for tokens that the first dex does not accept (all but USDC),
 * and for names that do not fit into a currency.
 */
export function hyperliquidPlaceAt(
  dex: string,
  tokenId: string,
  usdcTokenId: string,
): HyperliquidPlace | undefined {
  if (!TOKEN_ID.test(tokenId) || tokenId === PERPS_CURRENCY) return undefined;
  if (dex === "") return tokenId === usdcTokenId ? { kind: "perps" } : undefined;
  if (dex === "spot") return { kind: "spot", tokenId: tokenId as Hex };
  return isOtherDex(dex) ? { kind: "dex", tokenId: tokenId as Hex, dex } : undefined;
}

/** A token as written in actions: `NAME:0x…` with the 16 bytes of its id. */
const TOKEN = /^([^:\s]{1,32}):(0x[0-9a-f]{32})$/;

/** Parses a token's text; undefined if it is malformed. Ignore the name: names are not unique. */
export function parseHyperliquidToken(
  text: string,
): { readonly name: string; readonly tokenId: Hex } | undefined {
  const [, name, tokenId] = TOKEN.exec(text) ?? [];
  return name === undefined || tokenId === undefined ? undefined : { name, tokenId: tokenId as Hex };
}

/** Formats a token for actions. */
export function hyperliquidTokenText(name: string, tokenId: Hex): string {
  return `${name}:${tokenId}`;
}

function isOtherDex(name: string): boolean {
  return name !== "spot" && DEX_NAME.test(name);
}
