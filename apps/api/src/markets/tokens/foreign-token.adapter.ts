import type { Address, Currency } from "@causeway/domain";

/** The known facts about a token that is not configured. */
interface ForeignToken {
  readonly chainId: number;
  readonly address: Address;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUri: string | undefined;
  /** Whether the token is in a token list of the operator. */
  readonly verified: boolean;
}

/** A token that the solver does not hold and that has no price source: it can only be swapped. */
export function foreignToken(facts: ForeignToken): Currency {
  // Identified by its address, never its symbol: a token that calls itself USDC must not be treated or priced
  // as USDC.
  const tokenId = `${facts.chainId}:${facts.address}`;
  return {
    ...facts,
    id: tokenId,
    priceId: tokenId,
    class: "minor",
    supportsBridging: false,
    supportsPermit: false,
    resetsApproval: false,
    maxFillAmount: undefined,
  };
}
