import type { RecipientStanding, TokenBehavior } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * The behavior of tokens that the operator has not configured. Synchronous once cached. If the chain did not
 * answer, the result is undefined; never throws.
 */
export interface TokenQuirks {
  behavior(chainId: number, token: Address): MaybePromise<TokenBehavior>;
  /** Whether this recipient can receive the token, like other accounts. */
  recipient(chainId: number, token: Address, recipient: Address): MaybePromise<RecipientStanding>;
}
