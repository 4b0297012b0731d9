import type { RecipientStanding, TokenBehaviour } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * What tokens do that nobody has vouched for. Synchronous once it is known; what a chain did not tell is
 * undefined in the answer, never an error.
 */
export interface TokenQuirks {
  behaviour(chainId: number, token: Address): MaybePromise<TokenBehaviour>;
  /** Whether this recipient takes the token as others do. */
  recipient(chainId: number, token: Address, recipient: Address): MaybePromise<RecipientStanding>;
}
