import type { Address } from "@causeway/domain";
import type { HyperliquidTransaction } from "./answers.ts";
import { transferOf, type HyperliquidTransfer, type TransferRules } from "./payments/transfers.ts";

/** Judges whether a transaction is a deposit. Pure. */

export interface DepositRules extends TransferRules {
  /** Every account that accepts deposits, the current one first. */
  readonly depositories: readonly Address[];
}

/** A transfer into a depository. The transfer itself does not name an order. */
export interface HyperliquidDeposit extends HyperliquidTransfer {
  readonly sender: Address;
}

/**
 * The deposit of a transaction; undefined if it is not one: another kind of action, a transfer to another
 * account, or a depository's own transfer.
 */
export function depositIn(
  transaction: HyperliquidTransaction,
  rules: DepositRules,
): HyperliquidDeposit | { readonly refusal: string } | undefined {
  const { action, user, error } = transaction;
  if (error !== undefined) return { refusal: "transaction failed" };
  if (action === undefined) return undefined;
  // Check the recipient first: a transfer to another account is not a deposit, even if it is malformed.
  const depository = rules.depositories.find((account) => account === action.destination.toLowerCase());
  if (depository === undefined) return undefined;
  // A depository's transfer is not a user's deposit, even to another depository.
  if (rules.depositories.includes(user)) return undefined;
  const transfer = transferOf(action, rules);
  return "refusal" in transfer ? transfer : { ...transfer, sender: user };
}
