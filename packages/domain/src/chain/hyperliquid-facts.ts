import type { Hex } from "../ids/hex.ts";
import type { ExchangeNetwork, ExchangeProfileName } from "../exchange/signing-profile.ts";

/** What an oracle knows only of the perpetuals exchange. */
export interface HyperliquidAttestationFacts {
  /** Where each endpoint's explorer is, in the order of the chain's `rpcUrls`. */
  readonly explorerUrls: readonly string[];
  /** Names under which the exchange verifies signatures. */
  readonly profile: ExchangeProfileName;
  readonly network: ExchangeNetwork;
  /** The token that is margin on the first dex, 16 bytes. */
  readonly usdcTokenId: Hex;
  /**
   * What the first endpoint allows each IP per minute, by the exchange's weights; undefined: it has no limit.
   */
  readonly weightPerMinute?: number | undefined;
}
