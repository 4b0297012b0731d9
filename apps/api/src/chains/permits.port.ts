import type { Address, Currency, Hex, PermitTerms } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/** What a token takes in place of an approval, as its chain says. */
export interface TokenPermits {
  /** Undefined: what its signatures must name cannot be established, so it takes none. */
  readonly domain: { readonly name: string; readonly version: string } | undefined;
  readonly eip3009: boolean;
  readonly eip2612: boolean;
}

/** What tokens say about signatures. */
export interface PermitTokens {
  /** Asked of the chain once, and remembered for a while. @throws RpcFault */
  permitsOf(currency: Currency): MaybePromise<TokenPermits>;
  /**
   * The nonce with which `owner` must sign the next EIP-2612 permit, as of the newest block.
   *
   * @throws RpcFault
   */
  nonceOf(currency: Currency, owner: Address): Promise<bigint>;
}

/** EIP-712 data as a wallet is given it: numbers are decimal texts, and the domain's own type is left out. */
export interface TypedData {
  readonly domain: {
    readonly name: string;
    readonly version?: string;
    readonly chainId: number;
    readonly verifyingContract: Address;
  };
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Tells whether an account stands behind what was signed. */
export interface PermitSignatures {
  /**
   * By its key or, where the method allows it (Permit2), by the contract at its address (EIP-1271).
   * @throws RpcFault when the chain did not say
   */
  isPermitSignedBy(
    user: Address,
    signed: { readonly method: PermitTerms["method"]; readonly typedData: TypedData },
    signature: Hex,
  ): Promise<boolean>;
}

/** How much the service ventures on signatures, whose gas is paid by outputs that may never be. */
export interface PermitPolicy {
  /** Gas of a day that no output has paid for (yet), USD with 18 decimals. */
  readonly dailyUsd: bigint;
  /** Such submissions of one user within the window. */
  readonly perUser: number;
  readonly windowMs: number;
}

/**
 * Under this, instead of an API key, stands what users themselves have submitted. No key has this id: those
 * are hex.
 */
export const PERMIT_KEY_ID = "permits";
