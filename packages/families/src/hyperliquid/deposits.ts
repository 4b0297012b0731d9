import type { Address } from "@causeway/domain";
import type { ExchangeTransaction } from "./answers.ts";
import { transferOf, type ExchangeTransfer, type TransferRules } from "./transfers.ts";

/** Judges whether a transaction is a deposit. Pure. */

export interface DepositRules extends TransferRules {
  /** Every account that takes deposits, the primary one first. */
  readonly depositories: readonly Address[];
}

/** A transfer into a depository. What it is for is not in it. */
export interface ExchangeDeposit extends ExchangeTransfer {
  readonly sender: Address;
}

/**
 * The deposit that a transaction is; undefined when it is none: another kind of action, money for somebody
 * else, or a depository's own.
 */
export function depositIn(
  transaction: ExchangeTransaction,
  rules: DepositRules,
): ExchangeDeposit | { readonly refusal: string } | undefined {
  const { action, user, error } = transaction;
  if (error !== undefined) return { refusal: "transaction failed" };
  if (action === undefined) return undefined;
  // Who received is looked at before what: a transfer between others is nobody's deposit, however it is
  // written.
  const depository = rules.depositories.find((one) => one === action.destination.toLowerCase());
  if (depository === undefined) return undefined;
  // A depository's money is not a user's, whichever of them has it.
  if (rules.depositories.includes(user)) return undefined;
  const transfer = transferOf(action, rules);
  return "refusal" in transfer ? transfer : { ...transfer, sender: user };
}
