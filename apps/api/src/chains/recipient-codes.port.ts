import type { Address } from "@causeway/domain";

/**
 * Whether recipients are contracts, as of a few minutes ago: decides how a native payment is made, and its
 * gas.
 */
export interface RecipientCodes {
  hasCode(chainId: number, recipient: Address): boolean | Promise<boolean>;
}
