import type { HyperliquidNetwork, HyperliquidProfileName, Hex } from "@causeway/domain";

/** Configuration of Hyperliquid only. */
export interface HyperliquidFacts {
  /** URL of each endpoint's explorer, in the order of the chain's `rpcUrls`. */
  readonly explorerUrls: readonly string[];
  /** The names under which Hyperliquid verifies signatures. */
  readonly profile: HyperliquidProfileName;
  readonly network: HyperliquidNetwork;
  /** Token id of USDC, the margin of the first dex, 16 bytes. */
  readonly usdcTokenId: Hex;
  /** The first endpoint's limit per IP and minute, in Hyperliquid's request weights. Absent: no limit. */
  readonly weightPerMinute?: number | undefined;
}
