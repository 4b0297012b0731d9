import { refundAmount } from "@causeway/domain";
import type { DepositId } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { gasUsedByFills } from "./gas-used-by-fills.ts";
import {
  isStillDue,
  planRefundOf,
  planUnattributedRefund,
  PRICE_WAIT_MS,
  priceOfRefund,
  refundCancelAfterMs,
  refundRecipient,
} from "../requests/index.ts";
import { giveUpRefund } from "./give-up-refund.ts";
import { isPlaceholder } from "../chains/index.ts";
import { endOf } from "../http/request-end.ts";
import { limitJobs } from "./non-evm/limit-jobs.ts";
import { refundsByTransfer } from "./non-evm/refund-by-transfer.ts";
import { evmRefunds, type RefundServices } from "./refund-on-evm.ts";
import type { Blocked, RefundPayer } from "./refund-payer.port.ts";
import type { LegKindToPay, Refused, Wanted } from "./reserve.port.ts";
import { reserveOne } from "./reserve.ts";
import { hasRoomForUnrepaid, LIMIT_WAIT_MS, refuseUnrepaid, unrepaidOf } from "./unrepaid-refunds.ts";
import { resumeSlot } from "./resume-slot.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";

/**
 * Refunds a deposit on its own chain, minus the cost of the payment, from the solver's inventory: to
 * `refundTo`; to the depositor if someone other than the user deposited, or if the deposit has no request.
 * Settlement repays only refunds of the order's currency to the order's refund recipient; others share a
 * daily limit.
 */
export async function refundDeposit(services: RefundServices, depositId: DepositId): Promise<Progress> {
  const deposit = await services.reads.deposit(depositId);
  if (deposit === undefined || deposit.disposition !== "refund") return DONE;
  if (deposit.refundState !== "sent" && deposit.refundState !== "none") return DONE;
  const end = endOf(services.chains, deposit.chainId);
  return await limitJobs(end, "refund", async () => await goOn(services, deposit));
}

async function goOn(services: RefundServices, deposit: DepositRecord): Promise<Progress> {
  if (deposit.refundState === "sent") {
    const slot = await services.reads.slotOfLeg("refund", deposit.id);
    if (slot) await resumeSlot(services, slot);
    return DONE;
  }
  if (!deposit.canonical) return DONE;
  const refunds = refundPayerOf(services, deposit);
  if (refunds === undefined) return { waitMs: 60_000, why: "the chain is disabled" };
  const early = await refunds.whyEarly(deposit);
  if (early !== undefined) return await stop(services, deposit, early);
  const request =
    deposit.requestId === undefined ? undefined : await services.reads.request(deposit.requestId);
  if (deposit.requestId !== undefined && request === undefined) return DONE;
  return await pay(services, refunds, deposit, request);
}

function refundPayerOf(services: RefundServices, { chainId }: DepositRecord): RefundPayer | undefined {
  const onRail = services.chains.rail(chainId);
  if (onRail !== undefined) return refundsByTransfer(onRail);
  const connected = services.chains.get(chainId);
  return connected && evmRefunds(services, connected);
}

async function stop(services: RefundServices, deposit: DepositRecord, blocked: Blocked): Promise<Progress> {
  if (blocked.kind === "waits") return { waitMs: blocked.waitMs, why: blocked.why };
  return await giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", blocked.why);
}

async function pay(
  services: RefundServices,
  { chain, funds, price }: RefundPayer,
  deposit: DepositRecord,
  request: RequestRecord | undefined,
): Promise<Progress> {
  const giveUp = async (detail?: string): Promise<Progress> =>
    await giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", detail);
  const currency = services.chains.currency(chain.id, deposit.currency);
  // An unconfigured token is only in the depository: the solver cannot advance it.
  if (currency === undefined) return await giveUp();
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const priceUsd = await priceOfRefund(services, currency);
  if (priceUsd === undefined) {
    // The native price is known, so the sources answer: a late price comes, but a token that never had one
    // would wait forever unnoticed.
    const why = `${currency.symbol} has no price`;
    return services.clock.nowMs() - deposit.seenAtMs <= PRICE_WAIT_MS
      ? { waitMs: 5_000, why }
      : await giveUp(why);
  }
  const unit = { decimals: currency.decimals, priceUsd };
  // A deposit without a request goes to its depositor: the fee payer may only have relayed it.
  const recipient =
    request === undefined ? deposit.depositor : refundRecipient(chain, request, deposit.depositor);
  // Quotes may be requested before a wallet connects; a payment to a placeholder would be lost.
  if (isPlaceholder(recipient)) return await giveUp("no refund recipient is known");
  const priced = await price({ deposit, request, currency, recipient, native });
  if (priced.kind !== "priced") return await stop(services, deposit, priced);
  const { cost, broughtCost, router } = priced;
  const due = refundAmount(deposit.amount, cost, native, unit);
  // Funds that the service itself deposited pay for that too; otherwise anyone could make the service pay
  // repeatedly.
  const whole = refundAmount(deposit.amount, cost + broughtCost, native, unit);
  const revertedGas = request === undefined ? 0n : await gasUsedByFills(services, request, deposit, unit);
  // Gas that rose since the deposit must not use up all of it.
  const kept = whole.kind === "refund" ? whole : due;
  const rest = kept.kind === "refund" ? kept.amount - revertedGas : 0n;
  const nowMs = services.clock.nowMs();
  const refund =
    request === undefined
      ? planUnattributedRefund(rest, unit)
      : planRefundOf(services, chain, request, deposit, { recipient, rest, router, nowMs });
  if (refund.kind === "tooLow")
    return await giveUpRefund(services, deposit, "AMOUNT_TOO_LOW_TO_REFUND", undefined, revertedGas);
  const { amount } = refund;
  const unrepaid = unrepaidOf(refund, unit);
  const excess = refuseUnrepaid(services, deposit, unrepaid);
  if (excess !== undefined) return await giveUp(excess);
  const cancelAfterMs = refundCancelAfterMs(chain, request, refund.unattestable === undefined, nowMs);
  const planned = await priced.plan(amount, cancelAfterMs);
  if (planned.kind !== "ready") return await stop(services, deposit, planned);

  const kind: LegKindToPay<Wanted, RefusedRefund> = {
    async due(tx) {
      const current = await tx.deposits.lock(deposit.id);
      if (current === undefined || !isStillDue(current, deposit)) return ["moved"];
      if (await isRefundedAlready(tx, current)) return [{ kind: "refused", why: REFUNDED_BEFORE }];
      if (!(await hasRoomForUnrepaid(services, tx, current, unrepaid)))
        return [{ kind: "refused", why: "the daily limit of unrepaid refunds is used up" }];
      return ["due"];
    },
    async taken(tx, taken) {
      const atMs = services.clock.nowMs();
      const { id: depositId, requestId } = deposit;
      await tx.deposits.setRefund(depositId, "sent", undefined);
      if (unrepaid !== undefined) await tx.deposits.setUnrepaid(depositId, unrepaid, atMs);
      if (requestId !== undefined) {
        const keptAmount = kept.kind === "refund" ? kept.amount - amount : 0n;
        await tx.fillBurns.keep(requestId, { kept: keptAmount, revertedGas });
        for (const { slot } of taken) {
          const facts = { depositId, amount, gasFee: kept.gasFee, nonce: slot.nonce };
          await tx.requests.note(requestId, atMs, "refundPlanned", facts);
        }
      }
      tx.events.happened("refund_planned", {
        requestId,
        depositId,
        amount,
        chain: chain.name,
        unrepaid: unrepaid?.reason,
        released: deposit.refundReleasedAtMs !== undefined,
      });
      return undefined;
    },
  };
  const outcome = await reserveOne(services, funds, kind, { plan: planned.plan });
  if (outcome.kind === "refused") return { waitMs: LIMIT_WAIT_MS, why: outcome.why };
  if (outcome.kind === "short")
    return { waitMs: 5_000, why: "the solver's inventory does not cover the refund" };
  if (outcome.kind === "reserved") await resumeSlot(services, outcome.slot);
  return DONE;
}

interface RefusedRefund extends Refused {
  readonly why: string;
}

const REFUNDED_BEFORE = "this deposit may replace an orphaned one that was already refunded";

/** This one waits until the refunded deposit is back in a block, or `operator refund` releases it. */
async function isRefundedAlready(
  tx: Pick<Tx, "deposits" | "events">,
  deposit: DepositRecord,
): Promise<boolean> {
  if (deposit.refundReleasedAtMs !== undefined) return false;
  const orphanedId = await tx.deposits.refundedAndOrphaned(deposit);
  if (orphanedId === undefined) return false;
  if (await tx.deposits.noteRefundWaits(deposit.id, REFUNDED_BEFORE))
    tx.events.alarm("deposit_exposed", {
      requestId: deposit.requestId,
      depositId: deposit.id,
      vanished: orphanedId,
      reason: REFUNDED_BEFORE,
    });
  return true;
}
