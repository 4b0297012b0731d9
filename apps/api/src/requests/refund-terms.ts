import {
  agreedUsd,
  amountToUsdDown,
  familyOf,
  minDeposit,
  planRefund,
  scaledMinimum,
  ServiceError,
  weightedDifference,
} from "@causeway/domain";
import type { Address, Chain, Currency, Hex, PricedUnit, RailChain, RefundPlan } from "@causeway/domain";
import { orderSignerOf } from "../chains/order-signer.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";

/**
 * Whether any address of a wallet may pay: on Bitcoin a wallet spends from whichever of its addresses hold
 * coins. The id that the transaction carries says for whom it is, and its refunds go to the order's
 * recipient. Whoever pays another's order by its id gives that money away.
 */
export function paysFromAnyAddress({ vmType }: Pick<Chain | RailChain, "vmType">): boolean {
  return vmType === "bvm";
}

/** `refundTo` was named by the request's user; another depositor's money goes to that depositor. */
export function refundRecipient(
  chain: Pick<Chain | RailChain, "vmType">,
  { terms }: Pick<RequestRecord, "terms">,
  depositor: Hex,
): Hex {
  return depositor === terms.user || paysFromAnyAddress(chain) ? terms.refundTo : depositor;
}

/**
 * Whether the refund that was planned is still to be made, for the same request or for none. Call with the
 * deposit locked.
 */
export function isStillDue(current: DepositRecord, planned: DepositRecord): boolean {
  const { disposition, refundState, canonical, requestId } = current;
  return disposition === "refund" && refundState === "none" && canonical && requestId === planned.requestId;
}

/** A token without a price is waited for this long; ms. */
export const PRICE_WAIT_MS = 3600 * 1000;
/** A refund is kept trying for this long; money that is owed does not lapse. */
const REFUND_CANCEL_AFTER_MS = 365 * 24 * 3600 * 1000;
/** Time for a refund to get into a block before the order's deadline: at least seconds, and blocks. */
const MIN_MINING_SECONDS = 600;
const MINING_BLOCKS = 6;

/**
 * Undefined: no source of prices knows it now. Pools are not asked: who moves one would choose what is kept
 * back for gas.
 */
export async function priceOfRefund(
  { prices }: Pick<Services, "prices">,
  currency: Currency,
): Promise<bigint | undefined> {
  try {
    return await prices.usd(currency);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return undefined;
    throw error;
  }
}

export interface RefundPayment {
  readonly recipient: Hex;
  /** The deposit minus what its refund costs; 0 when nothing is left. */
  readonly rest: bigint;
  /** The router that makes the payment; undefined: a plain transfer. */
  readonly router: Address | undefined;
  readonly nowMs: number;
}

/** How much of a deposit goes back, and whether oracles can attest that refund. */
export function planRefundOf(
  services: Pick<Services, "signer" | "formerSigners">,
  chain: Chain | RailChain,
  request: RequestRecord,
  deposit: DepositRecord,
  { recipient, rest, router, nowMs }: RefundPayment,
): RefundPlan {
  const { currency, depositor, amount } = deposit;
  const { order } = request.terms;
  return planRefund({
    order,
    isSolversOwn: orderSignerOf(services, order.solver) !== undefined,
    isDepositAttestable: deposit.isUnattestable !== true,
    vm: familyOf(chain),
    deposit: { chainId: chain.name, currency, depositor, amount },
    recipient,
    rest,
    promised: promisedRefund(request, deposit),
    now: Math.floor(nowMs / 1000),
    paidBy: Math.ceil(nowMs / 1000 + miningSecondsOf(chain)),
    router,
  });
}

/**
 * Deposits of no request are refunded from this worth on, USD with 18 decimals: also where payments cost
 * nothing, their number is limited, and dust would use it up.
 */
const MIN_UNASKED_USD = 10n ** 16n;

/**
 * How much of a deposit of no request goes back: it has no order under which oracles could attest its refund.
 */
export function planUnasked(rest: bigint, unit: PricedUnit): RefundPlan {
  return rest > 0n && amountToUsdDown(rest, unit) >= MIN_UNASKED_USD
    ? { kind: "pay", amount: rest, unattestable: "the deposit names no order" }
    : { kind: "tooLow" };
}

function miningSecondsOf({ blockTimeSeconds }: Pick<Chain | RailChain, "blockTimeSeconds">): number {
  return Math.max(MIN_MINING_SECONDS, MINING_BLOCKS * blockTimeSeconds);
}

/**
 * When an unmined refund is given up: an attestable one as long before its order's deadline as a refund may
 * take to be mined, since a block after the deadline would make it unattestable without counting against the
 * limit. It is planned again then.
 */
export function refundCancelAfterMs(
  chain: Pick<Chain | RailChain, "blockTimeSeconds">,
  request: RequestRecord | undefined,
  isAttestable: boolean,
  nowMs: number,
): number {
  const latestMs = nowMs + REFUND_CANCEL_AFTER_MS;
  const deadline = request?.terms.order.inputs[0]?.refunds[0]?.deadline;
  return isAttestable && deadline !== undefined
    ? Math.min(latestMs, (deadline - miningSecondsOf(chain)) * 1000)
    : latestMs;
}

/**
 * What the order says comes back at least, when the deposit is one that was agreed; 0 for any other. After a
 * swap it may be more than the order asks for: then the minimum grows with it, as whoever attests the refund
 * demands.
 */
function promisedRefund({ terms }: RequestRecord, deposit: DepositRecord): bigint {
  const { order } = terms;
  const isAgreed = agreedUsd(terms, deposit) !== undefined && deposit.amount >= minDeposit(terms);
  if (!isAgreed) return 0n;
  const promised = order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  return scaledMinimum(promised, weightedDifference(order, [deposit.amount]));
}
