import type { Address, Hex } from "../ids/hex.ts";
import { encodeFillContract } from "./order-calls.ts";
import type { Order, OrderRefund } from "./order.ts";
import { scaledMinimum, weightedDifference } from "./weighted-difference.ts";

// What oracles require of a refund. The service uses the same rule, to pay only what oracles can attest.

/** Signed messages carry the weighted difference as an int256. */
const INT256_LIMIT = 1n << 255n;

/** Whether a signed message can carry the difference. */
export function fitsMessage(difference: bigint): boolean {
  return difference < INT256_LIMIT && difference >= -INT256_LIMIT;
}

/** The payment that a refund of one input requires. Addresses are bytes. */
export interface RefundDemand {
  /** Name of the chain. */
  readonly chainId: string;
  readonly currency: Hex;
  readonly recipient: Hex;
  /** Base units. */
  readonly minimum: bigint;
  /** Unix seconds: the latest time of the payment's block. */
  readonly deadline: number;
}

/**
 * The payment that one refund option requires. An option that names the native currency as its recipient pays
 * the depositor.
 * @param native native currency of the option's chain, as bytes
 * @param depositor as bytes
 * @param difference see `weightedDifference`
 */
export function refundDemand(
  option: OrderRefund,
  native: Hex,
  depositor: Hex,
  difference: bigint,
): RefundDemand {
  const { chainId, currency, deadline } = option;
  const isToDepositor = option.recipient === native;
  return {
    chainId,
    currency,
    recipient: isToDepositor ? depositor : option.recipient,
    minimum: scaledMinimum(option.minimumAmount, difference),
    deadline,
  };
}

/** The facts of a deposit that its refund depends on. */
export interface RefundableDeposit {
  /** Name of the chain. */
  readonly chainId: string;
  readonly currency: Hex;
  readonly depositor: Hex;
  readonly amount: bigint;
}

export type RefundRule =
  | { readonly kind: "attestable"; readonly demand: RefundDemand }
  /** No payment for this deposit can be attested under its order. */
  | { readonly kind: "unattestable"; readonly reason: string };

/**
 * The payment that oracles require as the refund of a deposit under an order with one input.
 * @param native native currency of the deposit's chain, as bytes
 */
export function refundRule(order: Order, native: Hex, deposit: RefundableDeposit): RefundRule {
  const unattestable = (reason: string) => ({ kind: "unattestable", reason }) as const;
  const [input, ...more] = order.inputs;
  const option = input?.refunds[0];
  if (input === undefined || more.length > 0)
    return unattestable("the order does not have exactly one input");
  if (option === undefined) return unattestable("the order has no refund option");
  if (input.payment.chainId !== deposit.chainId)
    return unattestable("the deposit is not on the chain of the order's input");
  if (input.payment.currency !== deposit.currency)
    return unattestable("the deposit is not in the currency of the order's input");
  if (input.payment.amount * input.payment.weight === 0n)
    return unattestable("the amount or the weight of the order's input is zero");
  const difference = weightedDifference(order, [deposit.amount]);
  if (!fitsMessage(difference)) return unattestable("the deposit is too large in proportion to the order");
  const demand = refundDemand(option, native, deposit.depositor, difference);
  if (demand.chainId !== deposit.chainId || demand.currency !== deposit.currency)
    return unattestable("the currency or chain of the order's refund differs from that of the deposit");
  return { kind: "attestable", demand };
}

export interface RefundFacts {
  readonly order: Order;
  /** The service has the key of the order's solver, whose signature attestation needs. */
  readonly hasSolverKey: boolean;
  /** Oracles can attest the deposit's transaction. */
  readonly isDepositAttestable: boolean;
  /** Native currency of the deposit's chain, as bytes. */
  readonly native: Hex;
  readonly deposit: RefundableDeposit;
  /** The recipient, as bytes. */
  readonly recipient: Hex;
  /** The deposit minus the cost of returning it; 0 if the cost exceeds it. */
  readonly rest: bigint;
  /** The order's minimum refund for the agreed deposit; 0 for any other deposit. */
  readonly minimumRefund: bigint;
  /** Unix seconds. */
  readonly now: number;
  /** Unix seconds: the latest time at which the payment is expected to be mined. */
  readonly paidBy: number;
  /** The router that makes the payment. Undefined: a plain transfer, which oracles count under any order. */
  readonly router: Address | undefined;
}

/**
 * Why a refund through the configured router cannot be attested: oracles count only payments by the order's
 * own router.
 */
export const FORMER_ROUTER = "the order names a router that the chain no longer uses";

/** Why a refund cannot be attested: the key of its order's solver is not configured. */
export const MISSING_SOLVER_KEY = "the order names a solver whose key is not configured";

/** Reason recorded for a refund close to the order's deadline. Oracles still attest it if mined in time. */
export const REFUND_MAY_BE_LATE = "the order's time for refunds may end before the refund is mined";

/** Reasons that may no longer apply when the oracles are queried. */
export const TEMPORARY_REASONS: ReadonlySet<string> = new Set([MISSING_SOLVER_KEY, REFUND_MAY_BE_LATE]);

/** Why neither a fill nor a refund of a deposit can be attested. */
export const UNATTESTABLE_DEPOSIT =
  "oracles cannot attest the transaction of the deposit: its receipt is too large, or it has too many deposits";

export type RefundPlan =
  /** `unattestable`: why settlement may never repay the refund; only {@link TEMPORARY_REASONS} can change. */
  | { readonly kind: "pay"; readonly amount: bigint; readonly unattestable: string | undefined }
  | { readonly kind: "tooLow" };

/**
 * How much is refunded, and whether oracles can attest it. If the order's minimum exceeds the
 * remainder, the minimum is paid: a smaller refund would never be repaid.
 */
export function planRefund({
  order,
  hasSolverKey,
  isDepositAttestable,
  native,
  deposit,
  recipient,
  rest,
  minimumRefund,
  now,
  paidBy,
  router,
}: RefundFacts): RefundPlan {
  const amount = rest > minimumRefund ? rest : minimumRefund;
  if (amount <= 0n) return { kind: "tooLow" };
  const unattestable = (reason: string) => ({ kind: "pay", amount, unattestable: reason }) as const;
  if (!hasSolverKey) return unattestable(MISSING_SOLVER_KEY);
  if (!isDepositAttestable) return unattestable(UNATTESTABLE_DEPOSIT);
  const rule = refundRule(order, native, deposit);
  if (rule.kind === "unattestable") return unattestable(rule.reason);
  const { demand } = rule;
  if (demand.recipient !== recipient)
    return unattestable("the refund goes to a recipient that the order does not name");
  if (demand.deadline < now) return unattestable("the refund deadline of the order has passed");
  const extraData = order.inputs[0]?.refunds[0]?.extraData;
  if (router !== undefined && extraData !== encodeFillContract(router)) return unattestable(FORMER_ROUTER);
  const attested = amount > demand.minimum ? amount : demand.minimum;
  // Rounding can raise the minimum above a tiny deposit, and oracles attest no refund that exceeds its
  // deposit.
  if (attested > deposit.amount) return unattestable("the order requires a refund larger than the deposit");
  const unattestableReason = demand.deadline < paidBy ? REFUND_MAY_BE_LATE : undefined;
  return { kind: "pay", amount: attested, unattestable: unattestableReason };
}
