import { refundAmount } from "@causeway/domain";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import { LegTaken } from "../leg-taken.port.ts";
import type { DepositRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { gasUsedByFills } from "../gas-used-by-fills.ts";
import { giveUpRefund } from "../give-up-refund.ts";
import {
  isStillDue,
  planRefundOf,
  planUnattributedRefund,
  PRICE_WAIT_MS,
  priceOfRefund,
  refundCancelAfterMs,
  refundRecipient,
  type TransitionServices,
} from "../../requests/index.ts";
import { hasRoomForUnrepaid, LIMIT_WAIT_MS, refuseUnrepaid, unrepaidOf } from "../unrepaid-refunds.ts";
import { DONE } from "../../db/wait.ts";
import type { Progress } from "../../db/wait.ts";
import { hasInventory, slotPlanOf } from "./rail-payment.ts";
import { sendRailSlot } from "./send-rail-slot.ts";

type Needs = Pick<
  WorkerServices,
  "events" | "uow" | "reads" | "chains" | "prices" | "signer" | "formerSigners" | "enginePolicy"
> &
  TransitionServices;

/**
 * Refunds a deposit on a non-EVM chain, minus the cost of the payment: to the request's `refundTo`, to the
 * depositor if that is not the user, or to the sender of an unmapped transfer.
 */
export async function refundByRail(
  services: Needs,
  connected: ConnectedPayingRail,
  deposit: DepositRecord,
): Promise<Progress> {
  const { chain, rail } = connected;
  const request =
    deposit.requestId === undefined ? undefined : await services.reads.request(deposit.requestId);
  const currency = services.chains.currency(chain.id, deposit.currency);
  if (currency === undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED");
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const priceUsd = await priceOfRefund(services, currency);
  if (priceUsd === undefined)
    return services.clock.nowMs() - deposit.seenAtMs <= PRICE_WAIT_MS
      ? { waitMs: 5_000, why: `${currency.symbol} has no price` }
      : giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", `${currency.symbol} has no price`);
  // A deposit without an order goes to its depositor: the fee payer may only have relayed it.
  const { depositor, orderId } = deposit;
  const recipient = request === undefined ? depositor : refundRecipient(chain, request, depositor);
  const cost = await rail.paymentCost(deposit.currency, recipient);
  const due = refundAmount(deposit.amount, cost, native, { decimals: currency.decimals, priceUsd });
  const unit = { decimals: currency.decimals, priceUsd };
  const revertedGas = request === undefined ? 0n : await gasUsedByFills(services, request, deposit, unit);
  const rest = due.kind === "refund" ? due.amount - revertedGas : 0n;
  const nowMs = services.clock.nowMs();
  const refund =
    request === undefined
      ? planUnattributedRefund(rest, unit)
      : planRefundOf(services, chain, request, deposit, { recipient, rest, router: undefined, nowMs });
  if (refund.kind === "tooLow")
    return giveUpRefund(services, deposit, "AMOUNT_TOO_LOW_TO_REFUND", undefined, revertedGas);
  const { amount } = refund;
  const unrepaid = unrepaidOf(refund, unit);
  const excess = refuseUnrepaid(services, deposit, unrepaid);
  if (excess !== undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", excess);
  const refusal = await rail.refusalOf({ recipient, currency: deposit.currency, amount });
  if (refusal !== undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", refusal);

  const plan = slotPlanOf(connected, {
    leg: { kind: "refund", depositId: deposit.id, requestId: deposit.requestId },
    currency: deposit.currency,
    amount,
    recipient,
    orderId,
    cancelAfterMs: refundCancelAfterMs(chain, request, refund.unattestable === undefined, nowMs),
    cost,
  });
  const slotId = await services.uow
    .run(async (tx) => {
      // Locks in the same order everywhere: request, deposit, lane.
      if (deposit.requestId !== undefined) await tx.requests.lock(deposit.requestId);
      const current = await tx.deposits.lock(deposit.id);
      if (current === undefined || !isStillDue(current, deposit)) return undefined;
      // Unlike on EVM chains, no check for a refunded deposit that this one replaces: deposits here are final
      // when recorded. A reorg deeper than Bitcoin's configured confirmations is not covered.
      if (!(await hasRoomForUnrepaid(services, tx, current, unrepaid))) return "limit" as const;
      await tx.lanes.lockLane(plan.chainId, plan.sender);
      if (!(await hasInventory(tx, connected, plan))) return "short" as const;
      const slot = await tx.lanes.reserve(plan, services.clock.nowMs());
      await tx.deposits.setRefund(deposit.id, "sent", undefined);
      if (unrepaid !== undefined) await tx.deposits.setUnrepaid(deposit.id, unrepaid, services.clock.nowMs());
      if (deposit.requestId !== undefined) {
        const kept = due.kind === "refund" ? due.amount - amount : 0n;
        await tx.fillBurns.keep(deposit.requestId, { kept, revertedGas });
        await tx.requests.note(deposit.requestId, services.clock.nowMs(), "refundPlanned", {
          depositId: deposit.id,
          amount,
          gasFee: due.gasFee,
          nonce: slot.nonce,
        });
      }
      return slot.id;
    })
    .catch((error: unknown) => {
      if (error instanceof LegTaken) return undefined;
      throw error;
    });
  if (slotId === undefined) return DONE;
  if (slotId === "limit")
    return { waitMs: LIMIT_WAIT_MS, why: "the daily limit of unrepaid refunds is used up" };
  if (slotId === "short") return { waitMs: 5_000, why: "the solver's inventory does not cover the refund" };
  services.events.happened("refund_planned", {
    requestId: deposit.requestId,
    depositId: deposit.id,
    amount,
    chain: chain.name,
    unrepaid: unrepaid?.reason,
    released: deposit.refundReleasedAtMs !== undefined,
  });
  await sendRailSlot(services, connected, slotId);
  return DONE;
}
