import type { PayingConnection } from "@causeway/chains";
import { refundAmount } from "@causeway/domain";
import type { RefundFailReason, TxHash } from "@causeway/domain";
import { isPlaceholder } from "../../chains/index.ts";
import type { DepositRecord } from "../../db/records.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { DONE } from "../../db/wait.ts";
import { connectedChainOf, perKind } from "../../http/connected-chain.ts";
import {
  isStillDue,
  planRefundOf,
  planUnattributedRefund,
  PRICE_WAIT_MS,
  priceOfRefund,
  refundCancelAfterMs,
  refundRecipient,
  transition,
} from "../../requests/index.ts";
import { gasUsedByFills } from "../gas-used-by-fills.ts";
import { type Blocked, evmRefunds, type RefundPlanner, transferRefunds } from "../plan/plan-refund.ts";
import {
  hasRoomForUnrepaid,
  LIMIT_WAIT_MS,
  refuseUnrepaid,
  unrepaidOf,
  type UnrepaidRefund,
} from "../unrepaid-refund-limit.ts";
import type { DueLeg, LegKind, Stopped } from "./leg-kind.ts";
import type { WantedPayment } from "../wanted-payment.port.ts";

interface DueRefund extends DueLeg {
  readonly deposit: DepositRecord;
}

interface WantedRefund extends WantedPayment {
  readonly deposit: DepositRecord;
  readonly amount: bigint;
  /** Withheld for the payment's gas, in base units of the deposit's currency. */
  readonly gasFee: bigint;
  /** Withheld in addition for the gas of reverted fills. */
  readonly withheldForReverts: bigint;
  /** The gas cost of these fills, in base units of the deposit's currency. */
  readonly revertedGas: bigint;
  readonly unrepaid: UnrepaidRefund | undefined;
}

/** Why only the operator can refund a deposit. */
interface Impossible {
  readonly reason: RefundFailReason;
  readonly detail?: string | undefined;
  /** Gas of its request's reverted fills: a deposit too low to refund pays for it. */
  readonly revertedGas?: bigint;
}

/**
 * The refund of a deposit on its own chain, minus the cost of the payment, from the solver's inventory: to
 * `refundTo`; to the depositor if someone other than the user deposited, or if the deposit has no request.
 * Settlement repays only refunds of the order's currency to the order's refund recipient; others share a
 * daily limit.
 */
export const refundLeg: LegKind<DueRefund, WantedRefund, Impossible> = {
  name: "refund",
  queue: { name: "refund", id: "depositId", concurrency: 8 },
  isTransfer: true,

  overdue: async ({ reads }, ...since) => await reads.overdueRefunds(...since),
  async read({ reads }, depositId) {
    const deposit = await reads.deposit(depositId);
    if (deposit?.disposition !== "refund") return undefined;
    const { chainId, refundState, canonical } = deposit;
    if (refundState === "none" && canonical) return { deposit, chainId };
    const slot = refundState === "sent" ? await reads.slotOfLeg("refund", depositId) : undefined;
    return slot && { deposit, chainId, slot };
  },
  async plan(services, { deposit }) {
    const { chainId, requestId } = deposit;
    const connected = connectedChainOf(services.chains, chainId);
    if (connected === undefined) return { waitMs: 60_000, why: "the chain is disabled" };
    const { chain } = connected;
    const refunds = perKind<RefundPlanner, PayingConnection>(connected, {
      evm: (evmChain) => evmRefunds(services, evmChain),
      nonEvm: (nonEvmChain) => transferRefunds(services, nonEvmChain),
    });
    const early = await refunds.whyEarly(deposit);
    if (early !== undefined) return toStopped(early);
    const request = requestId === undefined ? undefined : await services.reads.request(requestId);
    if (requestId !== undefined && request === undefined) return DONE;
    const currency = services.chains.currency(chainId, deposit.currency);
    // An unconfigured token is only in the depository: the solver cannot advance it.
    if (currency === undefined) return manualRefund();
    const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
    const priceUsd = await priceOfRefund(services, currency);
    const nowMs = services.clock.nowMs();
    if (priceUsd === undefined) {
      // The native price is known, so the sources answer: a late price comes, but a token that never had one
      // would wait forever unnoticed.
      const why = `${currency.symbol} has no price`;
      return nowMs - deposit.seenAtMs <= PRICE_WAIT_MS ? { waitMs: 5_000, why } : manualRefund(why);
    }
    const unit = { decimals: currency.decimals, priceUsd };
    // A deposit without a request goes to its depositor: the fee payer may only have relayed it.
    const recipient =
      request === undefined ? deposit.depositor : refundRecipient(chain, request, deposit.depositor);
    // Quotes may be requested before a wallet connects; a payment to a placeholder would be lost.
    if (isPlaceholder(recipient)) return manualRefund("no refund recipient is known");
    const priced = await refunds.price({ deposit, request, currency, recipient, native });
    if (!("cost" in priced)) return toStopped(priced);
    const { cost, sweepCost, router } = priced;
    const afterFee = refundAmount(deposit.amount, cost, native, unit);
    // Funds that the service itself swept also pay for the sweep; otherwise anyone could make the service pay
    // for sweeps repeatedly.
    const afterAllCosts = refundAmount(deposit.amount, cost + sweepCost, native, unit);
    const revertedGas = request === undefined ? 0n : await gasUsedByFills(services, request, deposit, unit);
    // If gas rose since the deposit, the sweep is not charged: it must not use up the whole deposit.
    const payable = afterAllCosts.kind === "refund" ? afterAllCosts : afterFee;
    const remaining = payable.kind === "refund" ? payable.amount - revertedGas : 0n;
    const refund =
      request === undefined
        ? planUnattributedRefund(remaining, unit)
        : planRefundOf(services, chain, request, deposit, { recipient, rest: remaining, router, nowMs });
    if (refund.kind === "tooLow") return { giveUp: { reason: "AMOUNT_TOO_LOW_TO_REFUND", revertedGas } };
    const { amount } = refund;
    const unrepaid = unrepaidOf(refund, unit);
    const excess = refuseUnrepaid(services, deposit, unrepaid);
    if (excess !== undefined) return manualRefund(excess);
    const cancelAfterMs = refundCancelAfterMs(chain, request, refund.unattestable === undefined, nowMs);
    const planned = await priced.plan(amount, cancelAfterMs);
    if (planned.kind === "insufficientFunds") return { waitMs: 5_000, why: planned.why };
    if (planned.kind !== "ready") return manualRefund(planned.why);
    return {
      plan: planned.plan,
      deposit,
      amount,
      gasFee: payable.gasFee,
      withheldForReverts: payable.kind === "refund" ? payable.amount - amount : 0n,
      revertedGas,
      unrepaid,
    };
  },

  lock: async (services, tx, wanted) =>
    await Promise.all(
      wanted.map(async ({ deposit, unrepaid }) => {
        const current = await tx.deposits.lock(deposit.id);
        if (current === undefined || !isStillDue(current, deposit)) return "moved";
        if (await isRefundedAlready(tx, current)) return { kind: "refused", why: REFUNDED_BEFORE };
        if (await hasRoomForUnrepaid(services, tx, current, unrepaid)) return "due";
        return { kind: "refused", why: "the daily limit of unrepaid refunds is used up" };
      }),
    ),
  async reserved({ clock, chains }, tx, taken) {
    const atMs = clock.nowMs();
    for (const { slot, wanted } of taken) {
      const { deposit, amount, gasFee, withheldForReverts, revertedGas, unrepaid } = wanted;
      const { id: depositId, requestId } = deposit;
      await tx.deposits.setRefund(depositId, "sent", undefined);
      if (unrepaid !== undefined) await tx.deposits.setUnrepaid(depositId, unrepaid, atMs);
      if (requestId !== undefined) {
        await tx.fillBurns.notePaidByOthers(requestId, { paidByOthers: withheldForReverts, revertedGas });
        const facts = { depositId, amount, gasFee, nonce: slot.nonce };
        await tx.requests.note(requestId, atMs, "refundPlanned", facts);
      }
      tx.events.happened("refund_planned", {
        requestId,
        depositId,
        amount,
        chain: chains.profile(slot.chainId)?.name,
        unrepaid: unrepaid?.reason,
        released: deposit.refundReleasedAtMs !== undefined,
      });
    }
    return undefined;
  },
  async restored({ clock }, tx, { plan, nonce }) {
    const { leg, outflow, chainId, call } = plan;
    const deposit = await tx.deposits.lock(leg.id);
    // After a failover, other deposits get the ids of lost ones.
    const isSame =
      deposit?.chainId === chainId &&
      deposit.requestId === leg.requestId &&
      deposit.currency === outflow.currency &&
      deposit.amount >= outflow.amount &&
      [deposit.orderId ?? "", deposit.txHash].some((end) => end !== "" && call.data.endsWith(end.slice(2)));
    if (!isSame || deposit.disposition !== "refund") return "later";
    if (deposit.refundState !== "none") return "lost";
    await tx.deposits.setRefund(leg.id, "sent", undefined);
    if (leg.requestId !== undefined)
      await tx.requests.note(leg.requestId, clock.nowMs(), "refundPlanned", {
        depositId: leg.id,
        amount: outflow.amount,
        gasFee: deposit.amount - outflow.amount,
        nonce,
      });
    return "restored";
  },
  notReserved: async (_, __, why) =>
    typeof why === "string"
      ? { waitMs: 5_000, why: "the solver's inventory does not cover the refund" }
      : { waitMs: LIMIT_WAIT_MS, why: why.why },

  async mined({ services, tx, slot, record, attempt, receipt }) {
    if (record === undefined || receipt.status !== "success") return;
    const depositId = slot.leg.id;
    const refundTxHashes = withHash(record.refundTxHashes, attempt.txHash);
    await transition(
      services,
      tx,
      record,
      { kind: "refundMined", depositId },
      { refundTxHashes },
      { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed },
    );
    // A refund outside the request's own flow (such as a second deposit) changes no state, but its hash
    // must be shown; that of another depositor's refund must not.
    const isRequestRefund = record.state.depositId === depositId && record.state.name === "refunding";
    const deposit = await tx.deposits.lock(depositId);
    // For native payments, and any payment on a non-EVM chain, the call's target is the recipient.
    const isToUser = deposit?.depositor === record.terms.user || slot.call.to === record.terms.refundTo;
    if (!isRequestRefund && isToUser)
      await tx.requests.save(
        record.terms.requestId,
        { state: record.state, refundTxHashes },
        services.clock.nowMs(),
      );
  },
  async orphaned({ services, tx, slot, record }, attempt) {
    if (record === undefined || slot.minedStatus !== "success") return;
    const depositId = slot.leg.id;
    await transition(
      services,
      tx,
      record,
      { kind: "refundUnmined", depositId },
      { refundTxHashes: record.refundTxHashes.filter((txHash) => txHash !== attempt.txHash) },
    );
  },
  async final({ services, tx, slot, record }) {
    const depositId = slot.leg.id;
    await tx.deposits.setRefund(depositId, "final", undefined);
    if (record) await transition(services, tx, record, { kind: "refundFinal", depositId });
  },
  async dead({ services, tx, slot, record }, reason) {
    const depositId = slot.leg.id;
    // A reverted refund would revert again and needs the operator. One that was not included is retried.
    const impossible = reason === "TRANSACTION_REVERTED";
    await tx.deposits.setRefund(
      depositId,
      impossible ? "impossible" : "none",
      impossible ? "MANUAL_REFUND_REQUIRED" : undefined,
    );
    if (impossible) await tx.deposits.recordRefundWait(depositId, "its transaction reverted");
    if (impossible && record)
      await transition(services, tx, record, {
        kind: "refundImpossible",
        depositId,
        reason: "MANUAL_REFUND_REQUIRED",
      });
  },

  async giveUp(services, { deposit }, { reason, detail, revertedGas = 0n }) {
    const { id: depositId, requestId } = deposit;
    await services.uow.run(async (tx) => {
      const record = requestId === undefined ? undefined : await tx.requests.lock(requestId);
      const current = await tx.deposits.lock(depositId);
      if (current?.refundState !== "none") return;
      await tx.deposits.setRefund(depositId, "impossible", reason);
      if (detail !== undefined) await tx.deposits.recordRefundWait(depositId, detail);
      // A later manual refund does not pay for reverted fills.
      if (record && reason === "AMOUNT_TOO_LOW_TO_REFUND")
        await tx.fillBurns.notePaidByOthers(record.terms.requestId, {
          paidByOthers: current.amount,
          revertedGas,
        });
      if (record) await transition(services, tx, record, { kind: "refundImpossible", depositId, reason });
    });
    services.events.alarm("refund_impossible", { requestId, depositId, reason, detail });
    return DONE;
  },
};

function manualRefund(detail?: string): { readonly giveUp: Impossible } {
  return { giveUp: { reason: "MANUAL_REFUND_REQUIRED", detail } };
}

function toStopped(blocked: Blocked): Stopped<Impossible> {
  return "giveUp" in blocked ? manualRefund(blocked.giveUp) : blocked;
}

const REFUNDED_BEFORE = "this deposit may replace an orphaned one that was already refunded";

/**
 * Whether this deposit may replace an orphaned one that was refunded. Then its refund waits until that
 * deposit is back in a block, or `operator refund` releases it.
 */
async function isRefundedAlready(
  tx: Pick<Tx, "deposits" | "events">,
  deposit: DepositRecord,
): Promise<boolean> {
  if (deposit.refundReleasedAtMs !== undefined) return false;
  const orphanedId = await tx.deposits.refundedAndOrphaned(deposit);
  if (orphanedId === undefined) return false;
  if (await tx.deposits.recordRefundWait(deposit.id, REFUNDED_BEFORE))
    tx.events.alarm("deposit_exposed", {
      requestId: deposit.requestId,
      depositId: deposit.id,
      orphaned: orphanedId,
      reason: REFUNDED_BEFORE,
    });
  return true;
}

function withHash(hashes: readonly TxHash[], hash: TxHash): TxHash[] {
  return hashes.includes(hash) ? [...hashes] : [...hashes, hash];
}
