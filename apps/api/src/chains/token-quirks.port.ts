import type { RecipientStanding, TokenBehavior } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * How tokens behave that the operator has not configured. Synchronous once known; what a chain did not answer
 * is undefined in the result, never an error.
 */
export interface TokenQuirks {
  behavior(chainId: number, token: Address): MaybePromise<TokenBehavior>;
  /** Whether this recipient can receive the token like others. */
  recipient(chainId: number, token: Address, recipient: Address): MaybePromise<RecipientStanding>;
}
