import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import type { Address, Hex } from "../ids/hex.ts";
import { refundRule, type RefundableDeposit } from "../order/oracle-refund-rule.ts";
import { encodeFillContract } from "../order/order-calls.ts";
import type { Order } from "../order/order.ts";

/**
 * What is refunded of a deposit, in base units of its currency. `gasFee` is the cost of the refund
 * transaction.
 */
export type RefundAmount =
  | { readonly kind: "refund"; readonly amount: bigint; readonly gasFee: bigint }
  /** The gas costs at least the deposit's value, so nothing is refunded. */
  | { readonly kind: "tooLow"; readonly gasFee: bigint };

/** Subtracts the gas of the refund, converted to the deposit's currency and rounded up, from the deposit. */
export function refundAmount(
  deposit: bigint,
  refundGasCostWei: bigint,
  native: PricedUnit,
  currency: PricedUnit,
): RefundAmount {
  const gasFee = convertUp(refundGasCostWei, native, currency);
  return deposit > gasFee ? { kind: "refund", amount: deposit - gasFee, gasFee } : { kind: "tooLow", gasFee };
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
  readonly remainder: bigint;
  /** The order's minimum refund for the agreed deposit; 0 for any other deposit. */
  readonly minimumRefund: bigint;
  /** Unix seconds. */
  readonly now: number;
  /** Unix seconds: the latest time at which the payment is expected to be mined. */
  readonly minedBy: number;
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
  remainder,
  minimumRefund,
  now,
  minedBy,
  router,
}: RefundFacts): RefundPlan {
  const amount = remainder > minimumRefund ? remainder : minimumRefund;
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
  const unattestableReason = demand.deadline < minedBy ? REFUND_MAY_BE_LATE : undefined;
  return { kind: "pay", amount: attested, unattestable: unattestableReason };
}
