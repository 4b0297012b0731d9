import type { Address } from "../ids/hex.ts";
import type { FailReason } from "../request/reasons.ts";

/**
 * Funds of one currency at a deposit address that are undecided and have the confirmations that their value
 * needs.
 */
export interface FoundFunds {
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
}

/** The refund recipient: none was named, the sender of the funds, or an address. */
export type RefundTarget = "nobody" | "sender" | Address;

/**
 * Whether the contract can bind an address to the one order of its quote. Not if refunds go to the sender:
 * the sender is unknown until the funds arrive, and naming them changes the order. Such a strict address
 * keeps its rules, but only the operator moves its funds.
 */
export function isBoundToOrder({ strict, refundTo }: Pick<AddressFacts, "strict" | "refundTo">): boolean {
  return strict && refundTo !== "sender";
}

/** What the address was created for. */
export interface AddressFacts {
  readonly strict: boolean;
  /** The amount of its quote. */
  readonly quoted: FoundFunds;
  /** The request waits for its payment: it has no deposit and no sweep, and was not superseded. */
  readonly isUnused: boolean;
  /** An app guaranteed the quoted amount, so the recipient is already paid. Matters only while `isUnused`. */
  readonly isFronted: boolean;
  /** The quoted output is still guaranteed, regardless of price moves. */
  readonly isFirm: boolean;
  readonly refundTo: RefundTarget;
  /**
   * The sender of the funds; undefined if there are several or none is known. Needed only if `refundTo` is
   * `sender`.
   */
  readonly sender: Address | undefined;
}

/** What a refund requires. */
export interface ReturnFacts {
  /** The solver holds this currency and has a price for it, so it can refund it. */
  readonly canReturn: boolean;
  /** Whether an amount is worth the gas of the sweep and the refund. */
  readonly isWorthMoving: (amount: bigint) => boolean;
}

/** Why funds stay where they are: visible, and recoverable by `recovery`. */
export type HoldReason =
  /** They are worth less than the gas of the sweep and the refund. */
  | "AMOUNT_TOO_LOW"
  /** The solver does not hold this currency, so a deposit of it could not be refunded. */
  | "CURRENCY_NOT_HELD"
  | "NO_REFUND_ADDRESS"
  | "SENDER_UNKNOWN"
  /**
   * A fast fill already paid the recipient, and these funds do not cover the quoted amount: filling or
   * refunding them would pay twice.
   */
  | "FAST_FILL_NOT_COVERED";

export type FundsDecision =
  /**
   * Deposited under the order of the address: the quoted amount, and the excess as a second deposit (0:
   * none), which is refunded. Any other amount, currency or chain is refunded whole. `refundTo` replaces
   * the refund recipient; undefined: as agreed.
   */
  | {
      readonly kind: "own";
      readonly amount: bigint;
      readonly excess: bigint;
      readonly refundTo: Address | undefined;
    }
  /** Deposited under a new quote for the received amount, or as `otherwise` if there is no quote. */
  | { readonly kind: "requote"; readonly amount: bigint; readonly otherwise: Refund | Hold }
  | Refund
  | Hold;

interface Refund {
  readonly kind: "refund";
  readonly amount: bigint;
  readonly to: Address;
  readonly reason: FailReason;
}

interface Hold {
  readonly kind: "hold";
  readonly reason: HoldReason;
}

/**
 * Decides whether funds at a deposit address are filled, refunded or left there. Moves at most the balance,
 * and leaves only funds that would not pay for their own refund.
 */
export function decideFunds(
  address: AddressFacts,
  funds: FoundFunds,
  { canReturn, isWorthMoving }: ReturnFacts,
): FundsDecision {
  const { strict, quoted, isUnused, refundTo, sender } = address;
  const isFronted = isUnused && address.isFronted;
  const isQuotedMoney = funds.chainId === quoted.chainId && funds.currency === quoted.currency;
  const isEnough = isUnused && isQuotedMoney && funds.amount >= quoted.amount;
  const surplus = funds.amount - quoted.amount;
  // Anyone can add dust: a payment with a surplus that is not worth moving still counts as exact.
  const isExact = isEnough && (surplus === 0n || (canReturn && !isWorthMoving(surplus)));
  if (isEnough && (strict || isFronted || (isExact && address.isFirm))) {
    // A fast fill is covered only by a deposit under the filled order, so its refund recipient stays.
    const newRefundTo = refundTo === "sender" && !isFronted ? sender : undefined;
    const isReturnable = strict && !(refundTo === "sender" && newRefundTo === undefined);
    return {
      kind: "own",
      amount: quoted.amount,
      excess: isReturnable && surplus > 0n && isWorthMoving(surplus) ? surplus : 0n,
      refundTo: newRefundTo,
    };
  }
  const returnDecision = decideReturn(address, funds, { canReturn, isWorthMoving });
  if (isFronted)
    return returnDecision.kind === "hold"
      ? returnDecision
      : { kind: "hold", reason: "FAST_FILL_NOT_COVERED" };
  if (!strict) return { kind: "requote", amount: funds.amount, otherwise: returnDecision };
  // Deposit under the address's own order, so that its request shows the outcome.
  return returnDecision.kind === "refund" && refundTo !== "sender"
    ? { kind: "own", amount: funds.amount, excess: 0n, refundTo: undefined }
    : returnDecision;
}

/** Whether the decision depends on the sender of the funds. */
export function dependsOnSender(
  address: Omit<AddressFacts, "sender">,
  funds: FoundFunds,
  returnDecision: ReturnFacts,
): boolean {
  if (address.refundTo !== "sender" || (address.isUnused && address.isFronted)) return false;
  const decision = decideFunds({ ...address, sender: undefined }, funds, returnDecision);
  return decision.kind !== "hold" || decision.reason === "SENDER_UNKNOWN";
}

/**
 * Whether a request's status shows these funds. Anyone could send unconfigured tokens and dust to make it
 * misleading.
 */
export function concernsRequest(
  { quoted }: Pick<AddressFacts, "quoted">,
  { chainId, currency, amount }: FoundFunds,
  { isListed, isDust }: { readonly isListed: boolean; readonly isDust: boolean },
): boolean {
  const isQuoted = chainId === quoted.chainId && currency === quoted.currency && amount >= quoted.amount;
  return isQuoted || (isListed && !isDust);
}

/**
 * Whether confirmed funds below the quoted amount should wait for further confirmations, because all funds
 * that arrived (`arrived`, base units) together reach it.
 */
export function shouldAwaitRest(
  { quoted, isUnused }: Pick<AddressFacts, "quoted" | "isUnused">,
  { chainId, currency, amount }: FoundFunds,
  arrived: bigint,
): boolean {
  const isQuotedMoney = chainId === quoted.chainId && currency === quoted.currency;
  return isUnused && isQuotedMoney && amount < quoted.amount && arrived >= quoted.amount;
}

function decideReturn(
  { strict, quoted, refundTo, sender }: AddressFacts,
  { chainId, currency, amount }: FoundFunds,
  { canReturn, isWorthMoving }: ReturnFacts,
): Refund | Hold {
  if (!canReturn) return { kind: "hold", reason: "CURRENCY_NOT_HELD" };
  if (!isWorthMoving(amount)) return { kind: "hold", reason: "AMOUNT_TOO_LOW" };
  if (refundTo === "nobody") return { kind: "hold", reason: "NO_REFUND_ADDRESS" };
  const to = refundTo === "sender" ? sender : refundTo;
  if (to === undefined) return { kind: "hold", reason: "SENDER_UNKNOWN" };
  const reason: FailReason = !strict
    ? "NO_QUOTES"
    : chainId !== quoted.chainId
      ? "DEPOSIT_CHAIN_MISMATCH"
      : currency !== quoted.currency
        ? "INCORRECT_DEPOSIT_CURRENCY"
        : amount < quoted.amount
          ? "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"
          : "DOUBLE_SPEND";
  return { kind: "refund", amount, to, reason };
}
