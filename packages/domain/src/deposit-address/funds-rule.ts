import type { Address } from "../ids/hex.ts";
import type { FailReason } from "../request/reasons.ts";

/**
 * Money of one currency that lies at a deposit address and that nothing was decided about yet, beyond the
 * reorgs that its value asks for.
 */
export interface FoundFunds {
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
}

/** Who gets back what cannot be used: nobody was named, whoever sent it, or this address. */
export type RefundTarget = "nobody" | "sender" | Address;

/**
 * Whether the contract itself may bind an address to the one order of its quote. Where a refund goes to the
 * sender, it may not: the sender is known only when the money is there, and an order that names it is another
 * order. A strict address of that kind keeps its rules, but only the operator moves what is there.
 */
export function isBoundToOrder({ strict, refundTo }: Pick<AddressFacts, "strict" | "refundTo">): boolean {
  return strict && refundTo !== "sender";
}

/** What the address was given out for. */
export interface AddressFacts {
  readonly strict: boolean;
  /** What its quote asked for. */
  readonly quoted: FoundFunds;
  /** The request waits for its money: there is no deposit and no sweep for it, and it is not superseded. */
  readonly isUnused: boolean;
  /**
   * An app vouched for the quoted amount, so the recipient is paid already. Matters only while `isUnused`.
   */
  readonly isFronted: boolean;
  /** The quoted output is still kept although prices move. */
  readonly isFirm: boolean;
  readonly refundTo: RefundTarget;
  /**
   * Who sent what is there; undefined: several did, or nobody knows. Asked for only where `refundTo` is
   * `sender`.
   */
  readonly sender: Address | undefined;
}

/** What giving money back takes. */
export interface ReturnFacts {
  /** The solver can give this currency back: it holds it, and there is a price for it. */
  readonly canReturn: boolean;
  /** Whether an amount is worth the gas of moving it and of giving it back. */
  readonly isWorthMoving: (amount: bigint) => boolean;
}

/** Why money stays where it is: visible, and for its `recovery` to take. */
export type HoldReason =
  /** It is worth less than the gas of moving it and of giving it back. */
  | "AMOUNT_TOO_LOW"
  /** The solver does not hold this currency: from the depository nobody could give it back. */
  | "CURRENCY_NOT_HELD"
  | "NO_REFUND_ADDRESS"
  | "SENDER_UNKNOWN"
  /**
   * The recipient was paid ahead by a fast fill, and this does not cover the quoted amount: filling or
   * refunding it would pay twice.
   */
  | "FAST_FILL_NOT_COVERED";

export type FundsDecision =
  /**
   * Deposited under the order of the address: what was quoted, and what is more than that as a second deposit
   * (0: none), which goes back. Another sum, currency or chain goes back whole. `refundTo`: the same promise
   * anew, with this recipient of a refund; undefined: as it was agreed.
   */
  | {
      readonly kind: "own";
      readonly amount: bigint;
      readonly excess: bigint;
      readonly refundTo: Address | undefined;
    }
  /** Deposited under a new quote for what came, or, when there is none, what `otherwise` says. */
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
 * What becomes of money at a deposit address: it is filled, or it goes back, or it stays there for everyone
 * to see. Never more is moved than is there, and of one sum everything is moved but what would not pay for
 * its own way back.
 */
export function decideFunds(
  address: AddressFacts,
  found: FoundFunds,
  { canReturn, isWorthMoving }: ReturnFacts,
): FundsDecision {
  const { strict, quoted, isUnused, refundTo, sender } = address;
  const isFronted = isUnused && address.isFronted;
  const isQuotedMoney = found.chainId === quoted.chainId && found.currency === quoted.currency;
  const isEnough = isUnused && isQuotedMoney && found.amount >= quoted.amount;
  const over = found.amount - quoted.amount;
  // Anyone can add dust: what would not pay for being moved does not make it another payment.
  const isExact = isEnough && (over === 0n || (canReturn && !isWorthMoving(over)));
  if (isEnough && (strict || isFronted || (isExact && address.isFirm))) {
    // Only the order that was filled ahead covers the fill, and its refunds go to the user: the excess waits
    // for a decision of its own.
    const renamed = refundTo === "sender" && !isFronted ? sender : undefined;
    const isReturnable = strict && !(refundTo === "sender" && renamed === undefined);
    return {
      kind: "own",
      amount: quoted.amount,
      excess: isReturnable && over > 0n && isWorthMoving(over) ? over : 0n,
      refundTo: renamed,
    };
  }
  const back = giveBack(address, found, { canReturn, isWorthMoving });
  if (isFronted) return back.kind === "hold" ? back : { kind: "hold", reason: "FAST_FILL_NOT_COVERED" };
  if (!strict) return { kind: "requote", amount: found.amount, otherwise: back };
  // Under the order of its own, so that its request tells what became of it.
  return back.kind === "refund" && refundTo !== "sender"
    ? { kind: "own", amount: found.amount, excess: 0n, refundTo: undefined }
    : back;
}

/** Whether who sent the money makes a difference to what becomes of it. */
export function dependsOnSender(
  address: Omit<AddressFacts, "sender">,
  found: FoundFunds,
  back: ReturnFacts,
): boolean {
  if (address.refundTo !== "sender" || (address.isUnused && address.isFronted)) return false;
  const decision = decideFunds({ ...address, sender: undefined }, found, back);
  return decision.kind !== "hold" || decision.reason === "SENDER_UNKNOWN";
}

/**
 * Whether a request's status tells of this money: tokens that are not configured and dust could be sent by
 * anyone, to say something false about it.
 */
export function speaksForRequest(
  { quoted }: Pick<AddressFacts, "quoted">,
  { chainId, currency, amount }: FoundFunds,
  { isListed, isDust }: { readonly isListed: boolean; readonly isDust: boolean },
): boolean {
  const isQuoted = chainId === quoted.chainId && currency === quoted.currency && amount >= quoted.amount;
  return isQuoted || (isListed && !isDust);
}

/** Whether a confirmed part waits for the rest, which is there and makes it the quoted amount. */
export function awaitsRest(
  { quoted, isUnused }: Pick<AddressFacts, "quoted" | "isUnused">,
  { chainId, currency, amount }: FoundFunds,
  whole: bigint,
): boolean {
  const isQuotedMoney = chainId === quoted.chainId && currency === quoted.currency;
  return isUnused && isQuotedMoney && amount < quoted.amount && whole >= quoted.amount;
}

function giveBack(
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
