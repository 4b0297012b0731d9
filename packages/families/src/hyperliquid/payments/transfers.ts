import {
  hyperliquidCurrency,
  hyperliquidPlaceAt,
  parseAddress,
  parseExactAmount,
  parseHyperliquidToken,
  PERPS_CURRENCY,
  PERPS_DECIMALS,
  type Address,
  type HyperliquidPlace,
  type Hex,
  type HyperliquidAction,
} from "@causeway/domain";

/** Reads the transfer of an action, independent of its signer. Pure. */

/** Facts that are needed to read a transfer. */
export interface TransferRules {
  readonly network: string;
  /** The collateral token of the first dex. */
  readonly usdcTokenId: Hex;
  /** Decimals of a token; undefined: Hyperliquid lists no token with that id. */
  readonly decimalsOf: (tokenId: Hex) => number | undefined;
}

/** A transfer from the signing account to another account. */
export interface HyperliquidTransfer {
  readonly destination: Address;
  /** The currency that is sent. */
  readonly from: Hex;
  /** The currency that arrives. */
  readonly currency: Hex;
  /** Base units of `currency`. */
  readonly amount: bigint;
  readonly nonce: bigint;
}

/**
 * The transfer of an action, or why it cannot be attested. Its amount must be exact in the currency that
 * arrives, it must come from the account that signed it, and its destination must be unambiguous.
 */
export function transferOf(
  action: HyperliquidAction,
  rules: TransferRules,
): HyperliquidTransfer | { readonly refusal: string } {
  if (action.chain !== rules.network)
    return { refusal: `action is for the network ${action.chain.slice(0, 20)}` };
  const destination = parseAddress(action.destination);
  if (destination === undefined) return { refusal: "destination of the action is not a 20-byte account" };
  if (action.type === "UsdSend") {
    const amount = positive(action.amount, PERPS_DECIMALS);
    if (amount === undefined) return NOT_EXACT;
    return { destination, from: PERPS_CURRENCY, currency: PERPS_CURRENCY, amount, nonce: action.time };
  }
  if (action.fromSubAccount !== "") return { refusal: "transfers out of a sub-account are not attested" };
  const token = parseHyperliquidToken(action.token);
  if (token === undefined) return { refusal: "action has no token id" };
  const { tokenId } = token;
  const from = hyperliquidPlaceAt(action.sourceDex, tokenId, rules.usdcTokenId);
  const to = hyperliquidPlaceAt(action.destinationDex, tokenId, rules.usdcTokenId);
  if (from === undefined || to === undefined)
    return {
      refusal:
        "the default perpetuals dex (empty name) holds only USDC, and other dex names must be visible ASCII",
    };
  const decimals = decimalsAt(to, rules);
  if (decimals === undefined) return { refusal: "token is not listed on Hyperliquid" };
  const amount = positive(action.amount, decimals);
  if (amount === undefined) return NOT_EXACT;
  return {
    destination,
    from: hyperliquidCurrency(from),
    currency: hyperliquidCurrency(to),
    amount,
    nonce: action.nonce,
  };
}

/** Decimals of the currency of a place. */
export function decimalsAt(
  place: HyperliquidPlace,
  { decimalsOf }: Pick<TransferRules, "decimalsOf">,
): number | undefined {
  return place.kind === "perps" ? PERPS_DECIMALS : decimalsOf(place.tokenId);
}

const NOT_EXACT = {
  refusal: "amount must be a positive decimal number with at most the currency's decimals",
};

function positive(text: string, decimals: number): bigint | undefined {
  const amount = parseExactAmount(text, decimals);
  return amount === 0n ? undefined : amount;
}
