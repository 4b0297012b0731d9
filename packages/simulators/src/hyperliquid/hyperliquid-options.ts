import type { HyperliquidNetwork, HyperliquidSigningProfile, Hex } from "@causeway/domain";

/** A spot token. */
export interface HyperliquidToken {
  readonly name: string;
  /** 16 bytes, lower case. */
  readonly tokenId: Hex;
  readonly index: number;
  /** Decimals of order sizes. */
  readonly szDecimals: number;
  /** Decimals of balances. */
  readonly weiDecimals: number;
}

/** USDC, the collateral of every dex here. */
export const LOCAL_USDC: HyperliquidToken = {
  name: "USDC",
  tokenId: "0x6d1e7cde53ba9467b783cb7c530ce054",
  index: 0,
  szDecimals: 8,
  weiDecimals: 8,
};

export const localHyperliquidTokens: readonly HyperliquidToken[] = [
  LOCAL_USDC,
  {
    name: "PURR",
    tokenId: "0xc1fb593aeffbeb02f85e0308e9956a90",
    index: 1,
    szDecimals: 0,
    weiDecimals: 5,
  },
  {
    name: "HYPE",
    tokenId: "0x0d01dc56dcaaca66ad901c959b4011ec",
    index: 150,
    szDecimals: 2,
    weiDecimals: 8,
  },
];

export interface HyperliquidOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** EIP-712 names used to verify signatures. Default: those of the client contract. */
  readonly profile?: HyperliquidSigningProfile;
  /** Default `Mainnet`. */
  readonly network?: HyperliquidNetwork;
  readonly tokens?: readonly HyperliquidToken[];
  /** Dexes in addition to the first perp dex and spot. Default `xyz`. */
  readonly dexes?: readonly string[];
  /** Fee in USDC that the sender pays if the receiving account is new, as decimal text. Default 0. */
  readonly activationFee?: string;
  /** Maximum entries of one response about a time range. Default 500, as documented by Hyperliquid. */
  readonly pageSize?: number;
  /** Maximum transactions of one account that the explorer returns. Default 300. */
  readonly explorerLimit?: number;
  /** Milliseconds since epoch; the initial clock. Default: the machine's. */
  readonly now?: () => number;
}
