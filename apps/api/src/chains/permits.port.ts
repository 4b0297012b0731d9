import type { Address, Currency, Hex, PermitTerms } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/** The permits that a token accepts, as read from its chain. */
export interface TokenPermits {
  /** Undefined: its EIP-712 domain cannot be determined, so it accepts no permits. */
  readonly domain: { readonly name: string; readonly version: string } | undefined;
  readonly eip3009: boolean;
  readonly eip2612: boolean;
}

/** Reads the permit support of tokens. */
export interface PermitTokens {
  /** Read from the chain once and cached for a while. @throws RpcFault */
  permitsOf(currency: Currency): MaybePromise<TokenPermits>;
  /**
   * The nonce for the owner's next EIP-2612 permit, as of the newest block.
   * @throws RpcFault
   */
  nonceOf(currency: Currency, owner: Address): Promise<bigint>;
}

/** EIP-712 data for wallets: numbers are decimal strings, and the EIP712Domain type is omitted. */
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

/** Verifies that an account signed a permit. */
export interface PermitSignatures {
  /**
   * By its key or, where the method allows it (Permit2), by the contract at its address (EIP-1271).
   * @throws RpcFault when the chain did not answer
   */
  isPermitSignedBy(
    user: Address,
    signed: { readonly method: PermitTerms["method"]; readonly typedData: TypedData },
    signature: Hex,
  ): Promise<boolean>;
}

/**
 * Limits of the gas that the service risks on permits, whose fees come from outputs that may never arrive.
 */
export interface PermitPolicy {
  /** Maximum daily cost of gas that no output has paid for (yet), USD with 18 decimals. */
  readonly dailyUsd: bigint;
  /** Maximum number of unpaid submissions of one user within the window. */
  readonly perUser: number;
  readonly windowMs: number;
}

/**
 * Used instead of an API key id when users submit signatures without a key. No key has this id, because key
 * ids are hex.
 */
export const PERMIT_KEY_ID = "permits";
