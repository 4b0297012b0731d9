import {
  depositUsdAtQuote,
  amountToUsdDown,
  minDeposit,
  planRefund,
  scaledMinimum,
  weightedDifference,
  type Address,
  type Chain,
  type Hex,
  type NonEvmChain,
  type PricedUnit,
  type RefundPlan,
} from "@causeway/domain";
import { orderSignerOf } from "../chains/index.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { miningSecondsOf } from "./cancel-refund.ts";

/**
 * Whether the planned refund of a deposit is still due, and the deposit still belongs to the same request or
 * to none. Call with the deposit locked.
 */
export function isStillDue(current: DepositRecord, planned: DepositRecord): boolean {
  const { disposition, refundState, canonical, requestId } = current;
  return disposition === "refund" && refundState === "none" && canonical && requestId === planned.requestId;
}

export interface RefundPayment {
  readonly recipient: Hex;
  /** The deposit minus the cost of its refund; 0 if nothing is left. */
  readonly rest: bigint;
  /** The router that makes the payment; undefined: a plain transfer. */
  readonly router: Address | undefined;
  readonly nowMs: number;
}

/** The amount of a refund, and whether oracles can attest it. */
export function planRefundOf(
  services: Pick<Services, "signer" | "formerSigners">,
  chain: Chain | NonEvmChain,
  request: RequestRecord,
  deposit: DepositRecord,
  { recipient, rest, router, nowMs }: RefundPayment,
): RefundPlan {
  const { currency, depositor, amount } = deposit;
  const { order } = request.terms;
  return planRefund({
    order,
    hasSolverKey: orderSignerOf(services, order.solver) !== undefined,
    isDepositAttestable: deposit.isUnattestable !== true,
    native: chain.native.address,
    deposit: { chainId: chain.name, currency, depositor, amount },
    recipient,
    remainder: rest,
    minimumRefund: guaranteedRefund(request, deposit),
    now: Math.floor(nowMs / 1000),
    minedBy: Math.ceil(nowMs / 1000 + miningSecondsOf(chain)),
    router,
  });
}

/**
 * Minimum value of automatic refunds of unattributed deposits, USD with 18 decimals. Applies even on chains
 * with free payments: the number of payments is limited, and dust would use it up.
 */
const MIN_UNATTRIBUTED_USD = 10n ** 16n;

/** The refund of an unattributed deposit: without an order, oracles cannot attest it. */
export function planUnattributedRefund(rest: bigint, unit: PricedUnit): RefundPlan {
  return rest > 0n && amountToUsdDown(rest, unit) >= MIN_UNATTRIBUTED_USD
    ? { kind: "pay", amount: rest, unattestable: "the deposit names no order" }
    : { kind: "tooLow" };
}

/**
 * The order's minimum refund, if this is the agreed deposit; otherwise 0. A swap may yield more than the
 * order requires: then the minimum grows in proportion, as the oracles require.
 */
function guaranteedRefund({ terms }: RequestRecord, deposit: DepositRecord): bigint {
  const { order } = terms;
  const isAgreed = depositUsdAtQuote(terms, deposit) !== undefined && deposit.amount >= minDeposit(terms);
  if (!isAgreed) return 0n;
  const minimumRefund = order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  return scaledMinimum(minimumRefund, weightedDifference(order, [deposit.amount]));
}
