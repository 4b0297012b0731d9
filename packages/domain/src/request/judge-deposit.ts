import { mulDivUp } from "../money/mul-div.ts";
import type { Address } from "../ids/hex.ts";
import type { DepositVerdict } from "./state.ts";
import type { RequestTerms } from "./terms.ts";

/** The facts of a deposit that {@link judgeDeposit} compares with the terms. */
export interface JudgedDeposit {
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
  readonly depositor: Address;
  /** Account that signed the transaction. */
  readonly sender: Address;
  /**
   * The chain's wallets pay from any of their addresses, so the id in the transaction identifies the user,
   * not the paying address.
   */
  readonly isFromAnyAddress?: boolean;
  /** The service itself sent the deposit's transaction, for this request. */
  readonly byExecution?: boolean;
  /** Oracles cannot attest the deposit, so a fill would not be repaid. */
  readonly isUnattestable?: boolean;
}

/**
 * Compares a deposit that names the order with the terms: an exact amount or, after a swap, at least the
 * minimum. Any difference is a mismatch and is refunded. A mismatch affects the request only if the quoted
 * user's own account signed it or the service sent it as the request's execution, because anyone can name any
 * order and depositor in a deposit.
 */
export function judgeDeposit(
  terms: Pick<RequestTerms, "user" | "origin" | "forceRefund" | "refundReason">,
  deposit: JudgedDeposit,
): DepositVerdict {
  const byUser = deposit.sender === terms.user || deposit.byExecution === true;
  if (deposit.chainId !== terms.origin.chainId)
    return { kind: "mismatch", reason: "DEPOSIT_CHAIN_MISMATCH", byUser };
  if (deposit.currency !== terms.origin.currency)
    return { kind: "mismatch", reason: "INCORRECT_DEPOSIT_CURRENCY", byUser };
  if (deposit.depositor !== terms.user && deposit.isFromAnyAddress !== true)
    return { kind: "mismatch", reason: "DEPOSIT_ADDRESS_MISMATCH", byUser };
  if (deposit.amount < minDeposit(terms))
    return { kind: "mismatch", reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", byUser };
  if (deposit.amount > terms.origin.amount && terms.origin.minimumAmount === undefined)
    return { kind: "mismatch", reason: "DEPOSITED_AMOUNT_MISMATCH", byUser };
  if (terms.forceRefund)
    return { kind: "mismatch", reason: terms.refundReason ?? "MANUAL_ADMIN_REFUND", byUser };
  // Everything else matches, so this is the request's deposit, no matter who signed it.
  if (deposit.isUnattestable === true)
    return { kind: "mismatch", reason: "DEPOSIT_UNATTESTABLE", byUser: true };
  return { kind: "match" };
}

/** The smallest deposit that is filled, base units of the deposit's currency. */
export function minDeposit({ origin }: Pick<RequestTerms, "origin">): bigint {
  return origin.minimumAmount ?? origin.amount;
}

/**
 * Values a deposit at the prices of the quote, USD with 18 decimals. Undefined for another currency and for
 * more than the agreed amount: such deposits are refunded, and the quote does not limit their value.
 */
export function depositUsdAtQuote(
  { origin, inputUsd }: Pick<RequestTerms, "origin" | "inputUsd">,
  deposit: Pick<JudgedDeposit, "chainId" | "currency" | "amount">,
): bigint | undefined {
  if (deposit.chainId !== origin.chainId || deposit.currency !== origin.currency) return undefined;
  if (deposit.amount > origin.amount && origin.minimumAmount === undefined) return undefined;
  return mulDivUp(inputUsd, deposit.amount, origin.amount);
}
