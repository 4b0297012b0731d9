import type { Address } from "@causeway/domain";

/**
 * Whether recipients are contracts, which determines how a native payment is made and its gas. Answers may be
 * a few minutes old.
 */
export interface RecipientCodes {
  hasCode(chainId: number, recipient: Address): boolean | Promise<boolean>;
}
