import type { Address } from "@causeway/domain";

/**
 * Whether recipients are contracts, as of some minutes ago: decides how a native payment is made, and so what
 * its gas costs.
 */
export interface RecipientCodes {
  hasCode(chainId: number, recipient: Address): boolean | Promise<boolean>;
}
