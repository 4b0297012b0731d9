import { gasCostWei, refundAmount, serviceContracts } from "@causeway/domain";
import type { Address, Chain, DepositId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { LegTaken } from "./leg-taken.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { gasUsedByFills } from "./gas-used-by-fills.ts";
import { sweepGasOf } from "../deposits/index.ts";
import { laneFunds } from "./lane-funds.ts";
import { gasAllowance, isNativeToContract, planPayment } from "./payment-plan.ts";
import { gasOf } from "../markets/index.ts";
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
import { isPlaceholder, ownAccounts } from "../chains/index.ts";
import { limitJobs } from "./non-evm/limit-jobs.ts";
import { refundByRail } from "./non-evm/refund-by-rail.ts";
import { hasRoomForUnrepaid, LIMIT_WAIT_MS, refuseUnrepaid, unrepaidOf } from "./unrepaid-refunds.ts";
import { resumeSlot } from "./resume-slot.ts";
import { sendSlot } from "./send-slot.ts";
import { paymentOfLostOrder, whyMaybePaid, whyMaybeReturned } from "./unexplained-nonces.ts";
import type { LostOrderPayment } from "./unexplained-nonces.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";

/** A chain whose node is unreachable, or a lane after a failover, may take a while. */
const LOST_ORDER_WAIT_MS = 30_000;

type Needs = Pick<
  WorkerServices,
  | "clock"
  | "chains"
  | "prices"
  | "signer"
  | "depositAddressOperator"
  | "formerSigners"
  | "executor"
  | "uow"
  | "reads"
  | "events"
  | "enginePolicy"
  | "quotePolicy"
  | "appBalance"
  | "depositAddresses"
>;

/**
 * Refunds a deposit on its own chain, minus gas, from the solver's inventory: to `refundTo`, or to
 * the depositor if that is not the request's user or there is no request. Settlement repays only refunds of
 * the order's currency to the order's refund recipient; others share a daily limit. Waits for confirmations.
 */
export async function refundDeposit(services: Needs, depositId: DepositId): Promise<Progress> {
  const deposit = await services.reads.deposit(depositId);
  if (deposit === undefined || deposit.disposition !== "refund") return DONE;
  const onRail = services.chains.rail(deposit.chainId);
  if (onRail !== undefined && (deposit.refundState === "sent" || deposit.refundState === "none"))
    return await limitJobs(onRail, "refund", async () => await goOn(services, deposit));
  return await goOn(services, deposit);
}

async function goOn(services: Needs, deposit: DepositRecord): Promise<Progress> {
  if (deposit.refundState === "sent") {
    const slot = await services.reads.slotOfLeg("refund", deposit.id);
    if (slot) await resumeSlot(services, slot);
    return DONE;
  }
  if (deposit.refundState !== "none" || !deposit.canonical) return DONE;
  const onRail = services.chains.rail(deposit.chainId);
  if (onRail !== undefined) return refundByRail(services, onRail, deposit);
  const connected = services.chains.get(deposit.chainId);
  if (connected === undefined) return { waitMs: 60_000, why: "the chain is disabled" };
  // A block that was announced but not read may be on another branch, without the deposit.
  const read = await services.reads.cursor(deposit.chainId);
  if (read === undefined || read.number < refundableAt(connected.chain, deposit))
    return { waitMs: connected.chain.blockTimeSeconds * 1000, why: "the deposit is not confirmed" };

  if (deposit.requestId === undefined) return pay(services, connected, deposit, undefined);
  const request = await services.reads.request(deposit.requestId);
  return request === undefined ? DONE : pay(services, connected, deposit, request);
}

/** @param request undefined: the deposit belongs to none and is refunded to its depositor */
async function pay(
  services: Needs,
  connected: ConnectedChain,
  deposit: DepositRecord,
  request: RequestRecord | undefined,
): Promise<Progress> {
  const { chain, pulse } = connected;
  const currency = services.chains.currency(chain.id, deposit.currency);
  // An unconfigured token is only in the depository: the solver cannot advance it.
  if (currency === undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED");
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const priceUsd = await priceOfRefund(services, currency);
  if (priceUsd === undefined) {
    // The native price is known, so the sources answer: a late price comes, but a token that never had one
    // would wait forever unnoticed.
    return services.clock.nowMs() - deposit.seenAtMs <= PRICE_WAIT_MS
      ? { waitMs: 5_000, why: `${currency.symbol} has no price` }
      : giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", `${currency.symbol} has no price`);
  }
  const priced = { decimals: currency.decimals, priceUsd };
  const recipient =
    request === undefined ? deposit.depositor : refundRecipient(chain, request, deposit.depositor);
  // Quotes may be requested before a wallet connects; a payment to a placeholder would be lost.
  if (isPlaceholder(recipient))
    return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", "no refund recipient is known");
  const refusal = request === undefined ? await whyNotToDepositor(services, connected, deposit) : undefined;
  if (refusal !== undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", refusal);
  const lostOrder = request === undefined ? await paymentOfItsOrder(services, deposit) : undefined;
  if (lostOrder?.kind === "unknown") return { waitMs: LOST_ORDER_WAIT_MS, why: lostOrder.why };
  if (lostOrder?.kind === "paid")
    return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", lostOrder.why);
  const [toContract, maybePaid] = await Promise.all([
    isNativeToContract(connected, deposit.currency, recipient),
    request === undefined
      ? whyMaybeReturned(services, connected, deposit.txHash)
      : whyMaybePaid(services, chain.id, request.terms),
  ]);
  if (maybePaid !== undefined) return { waitMs: 5_000, why: maybePaid };
  const gasUnits = gasOf(services.quotePolicy.gas.refund, currency, toContract);
  const gasWei = gasCostWei(gasUnits, pulse.gasPrices(), chain.fees.minPriorityFeeWei, 0);
  const due = refundAmount(deposit.amount, gasWei, native, priced);
  // Funds that the service itself deposited pay for that too; otherwise anyone could make the service pay
  // repeatedly.
  const broughtUnits = request === undefined ? 0n : await gasOfBringing(services, request, deposit);
  const broughtWei = gasCostWei(broughtUnits, pulse.gasPrices(), chain.fees.minPriorityFeeWei, 0);
  const whole = refundAmount(deposit.amount, gasWei + broughtWei, native, priced);
  const revertedGas = request === undefined ? 0n : await gasUsedByFills(services, request, deposit, priced);
  // Gas that rose since the deposit must not use up all of it.
  const kept = whole.kind === "refund" ? whole : due;
  const rest = kept.kind === "refund" ? kept.amount - revertedGas : 0n;
  const nowMs = services.clock.nowMs();
  const router = toContract ? chain.contracts.router : undefined;
  const refund =
    request === undefined
      ? planUnattributedRefund(rest, priced)
      : planRefundOf(services, chain, request, deposit, { recipient, rest, router, nowMs });
  if (refund.kind === "tooLow")
    return giveUpRefund(services, deposit, "AMOUNT_TOO_LOW_TO_REFUND", undefined, revertedGas);
  const { amount } = refund;
  const unrepaid = unrepaidOf(refund, priced);
  const excess = refuseUnrepaid(services, deposit, unrepaid);
  if (excess !== undefined) return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", excess);

  const planned = await planPayment(services, connected, {
    leg: { kind: "refund", depositId: deposit.id, requestId: deposit.requestId },
    currency: deposit.currency,
    amount,
    recipient,
    toContract,
    maxGas: gasAllowance(connected, gasUnits, native),
    orderId: (request === undefined ? undefined : deposit.orderId) ?? deposit.txHash,
    cancelAfterMs: refundCancelAfterMs(chain, request, refund.unattestable === undefined, nowMs),
  });
  if (planned.kind === "tooDear")
    return giveUpRefund(
      services,
      deposit,
      "MANUAL_REFUND_REQUIRED",
      `the refund would use ${planned.gas} gas, more than allowed`,
    );
  // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
  if (planned.kind === "reverts" && pulse.solverBalance(deposit.currency).amount < amount)
    return { waitMs: 5_000, why: "the solver's inventory does not cover the refund" };
  if (planned.kind === "reverts")
    return giveUpRefund(services, deposit, "MANUAL_REFUND_REQUIRED", planned.reason);
  if (planned.kind === "insufficientFunds")
    return { waitMs: 5_000, why: "the solver lacks the funds for the refund" };

  const { plan } = planned;
  const slotId = await services.uow
    .run(async (tx) => {
      // Locks in the same order everywhere: request, deposit, lane.
      if (deposit.requestId !== undefined) await tx.requests.lock(deposit.requestId);
      const current = await tx.deposits.lock(deposit.id);
      if (current === undefined || !isStillDue(current, deposit)) return undefined;
      if (await isRefundedAlready(tx, current)) return "refunded" as const;
      if (!(await hasRoomForUnrepaid(services, tx, current, unrepaid))) return "limit" as const;
      await tx.lanes.lockLane(plan.chainId, plan.sender);
      if (!(await laneFunds(tx, connected, plan.sender).take(plan))) return "short" as const;
      const slot = await tx.lanes.reserve(plan, services.clock.nowMs());
      await tx.deposits.setRefund(deposit.id, "sent", undefined);
      if (unrepaid !== undefined) await tx.deposits.setUnrepaid(deposit.id, unrepaid, services.clock.nowMs());
      if (deposit.requestId !== undefined) {
        await tx.fillBurns.keep(deposit.requestId, {
          kept: kept.kind === "refund" ? kept.amount - amount : 0n,
          revertedGas,
        });
        await tx.requests.note(deposit.requestId, services.clock.nowMs(), "refundPlanned", {
          depositId: deposit.id,
          amount,
          gasFee: kept.gasFee,
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
  if (slotId === "refunded") return { waitMs: LIMIT_WAIT_MS, why: REFUNDED_BEFORE };
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
  await sendSlot(services, slotId);
  return DONE;
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

/**
 * Why the depositor of an unattributed deposit may not own it, or cannot use it. Undefined: refund the
 * depositor.
 * @throws RpcFault
 */
async function whyNotToDepositor(
  services: Needs,
  { chain, connection }: ConnectedChain,
  { depositor, sender, refundReleasedAtMs }: DepositRecord,
): Promise<string | undefined> {
  if (isOurs(services, chain, depositor) || (await services.depositAddresses?.find(depositor)) !== undefined)
    return "the depositor is an account or contract of this service";
  // A plain token transfer names the forwarding contract as depositor: the signing account may be the owner.
  const mayBeAnothers = depositor !== sender && refundReleasedAtMs === undefined;
  return mayBeAnothers && (await connection.reader.hasCode(depositor))
    ? "the depositor is a contract that did not sign the deposit: verify that it can use the refund, then release it"
    : undefined;
}

/**
 * Whether a failover may have lost this deposit's order together with its payment. Undefined: it names none,
 * or the operator released its refund.
 */
async function paymentOfItsOrder(
  services: Needs,
  { orderId, refundReleasedAtMs }: DepositRecord,
): Promise<LostOrderPayment | undefined> {
  return orderId === undefined || refundReleasedAtMs !== undefined
    ? undefined
    : await paymentOfLostOrder(services, orderId);
}

/**
 * The block from which a deposit may be refunded. An unattributed one waits until it is final, which costs
 * nothing.
 */
function refundableAt(
  { finalityBlocks }: Chain,
  { requestId, blockNumber, confirmAtBlock }: DepositRecord,
): bigint {
  const finalAt = blockNumber + BigInt(finalityBlocks) - 1n;
  return requestId === undefined && finalAt > confirmAtBlock ? finalAt : confirmAtBlock;
}

/** Whether a payment to this account would return to the service, or be lost in one of its contracts. */
function isOurs(services: Needs, { contracts, tokens }: Chain, account: Address): boolean {
  const former = services.formerSigners.map(({ address }) => address);
  return [
    ...serviceContracts(contracts),
    contracts.multicall3,
    ...tokens.map(({ address }) => address),
    ...ownAccounts(services),
    ...former,
  ].includes(account);
}

/**
 * Gas units that the service used to deposit these funds: a sweep, unless a filled deposit of the same
 * transaction paid for it; or a permit, unless an app paid.
 */
async function gasOfBringing(
  { reads, executor, depositAddressOperator }: Pick<Needs, "reads" | "executor" | "depositAddressOperator">,
  { terms, state }: RequestRecord,
  { id, txHash, sender, currency }: DepositRecord,
): Promise<bigint> {
  if (terms.permit !== undefined) {
    if (sender !== executor?.address) return 0n;
    const execution = await reads.execution(terms.requestId);
    return execution !== undefined && execution.wallet === undefined ? terms.permit.gasUnits : 0n;
  }
  if (terms.depositAddress === undefined || sender !== depositAddressOperator?.address) return 0n;
  const filled =
    state.depositId === undefined || state.depositId === id
      ? undefined
      : await reads.deposit(state.depositId);
  return filled?.txHash === txHash ? 0n : sweepGasOf(currency);
}
