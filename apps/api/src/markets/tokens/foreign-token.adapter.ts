import type { Address, Currency } from "@causeway/domain";

/** What is known of a token that is not configured. */
interface ForeignToken {
  readonly chainId: number;
  readonly address: Address;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUri: string | undefined;
  /** Stands in a token list of the operator's. */
  readonly verified: boolean;
}

/** A token that this instance neither holds nor has a price source for: it can only be exchanged. */
export function foreignToken(known: ForeignToken): Currency {
  // Its own address, never its symbol: a token that calls itself USDC must not be taken for the same asset as
  // USDC, nor priced like it.
  const itself = `${known.chainId}:${known.address}`;
  return {
    ...known,
    id: itself,
    priceId: itself,
    class: "minor",
    supportsBridging: false,
    supportsPermit: false,
    resetsApproval: false,
    maxFillAmount: undefined,
  };
}
