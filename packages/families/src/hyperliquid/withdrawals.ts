import {
  decodeHyperliquidAction,
  hyperliquidActionId,
  parseExactAmount,
  PERPS_DECIMALS,
  type Address,
  type HyperliquidSigningProfile,
  type Hex,
  type Hex32,
  type HyperliquidAction,
} from "@causeway/domain";
import type { HyperliquidTransaction, LedgerTransfer } from "./answers.ts";
import { transferOf, type TransferRules } from "./payments/transfers.ts";

/** Reads withdrawal payloads, and finds the transactions that execute them. Pure. */

/** The payment of a payload. */
export interface HyperliquidWithdrawal {
  /** The struct hash that the depository signs. */
  readonly id: Hex32;
  readonly action: HyperliquidAction;
  readonly recipient: Address;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly nonce: bigint;
}

export interface WithdrawalRules extends TransferRules {
  readonly depositories: readonly Address[];
  readonly profile: HyperliquidSigningProfile;
}

/** The withdrawal of a payload, or why it could not be attested. */
export function readWithdrawal(
  payload: Hex,
  rules: WithdrawalRules,
): HyperliquidWithdrawal | { readonly refusal: string } {
  const action = decodeHyperliquidAction(payload);
  if (action === undefined) return { refusal: "payload is not a Hyperliquid transfer" };
  const transfer = transferOf(action, rules);
  if ("refusal" in transfer) return transfer;
  const { destination: recipient, from, currency, amount, nonce } = transfer;
  // Hyperliquid hashes the text: the same amount in another notation is another action with another id.
  if (action.destination !== recipient) return { refusal: "recipient must be lowercase" };
  if (rules.depositories.includes(recipient))
    return { refusal: "withdrawal recipient must not be a depository" };
  // The hub debits `currency`; paying another currency would leave the depository short of this one.
  if (from !== currency) return { refusal: "withdrawal takes and pays different currencies" };
  return { id: hyperliquidActionId(action, rules.profile), action, recipient, currency, amount, nonce };
}

/**
 * Whether a transaction executed the withdrawal: a successful one of a depository with exactly the same
 * action.
 */
export function isExecutionOf(
  { user, error, action }: HyperliquidTransaction,
  { id }: HyperliquidWithdrawal,
  { depositories, profile }: WithdrawalRules,
): boolean {
  return (
    error === undefined &&
    action !== undefined &&
    depositories.includes(user) &&
    hyperliquidActionId(action, profile) === id
  );
}

/**
 * Whether a ledger entry may be the withdrawal's execution; its transaction decides. Hyperliquid decides
 * which kind of entry an action becomes, and changes it; a missed execution would be paid and refunded.
 */
export function mayBeExecutionOf(
  entry: LedgerTransfer,
  { action, recipient, nonce }: HyperliquidWithdrawal,
  { depositories }: WithdrawalRules,
): boolean {
  if (!depositories.includes(entry.user) || entry.destination !== recipient) return false;
  if (entry.nonce !== undefined) return entry.nonce === nonce;
  return (
    entry.kind !== "usdSend" ||
    parseExactAmount(entry.amount, PERPS_DECIMALS) === parseExactAmount(action.amount, PERPS_DECIMALS)
  );
}
