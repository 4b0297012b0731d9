import type { PayingRail } from "@causeway/chains";
import {
  FORMER_ROUTER,
  ServiceError,
  amountToUsdUp,
  appBpsOf,
  bpsOfUp,
  formatUsd,
  isOneAsset,
  NATIVE_CURRENCY,
  mulDivUp,
  pairClassOf,
} from "@causeway/domain";
import type { Currency, FailReason, OutputCalls, RequestId, RequestTerms } from "@causeway/domain";
import type { RequestEnd } from "../chains/chains.port.ts";
import { LegTaken } from "./leg-taken.port.ts";
import type { RequestRecord, SlotPlan } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { reserveSponsorship, warmPrices } from "../balances/index.ts";
import { uncoveredBurnUsd, unpaidRevertedGasUsd } from "./gas-used-by-fills.ts";
import { whySaleWaits } from "./executions/value-sale.ts";
import { fillBasisOf, isBasisOf } from "./fill-basis.ts";
import type { FillBasis, FillPlan, FillSent } from "./fill-lane.port.ts";
import { fillContractOf, orderSignerOf } from "../chains/index.ts";
import { amountToPay } from "./fill-amount.ts";
import { addExposures, gasOf } from "../markets/index.ts";
import { settleFees } from "./legs/fees-of-fill.ts";
import { laneFunds } from "./lane-funds.ts";
import { gasAllowance, isNativeToContract, planPayment } from "./payment-plan.ts";
import type { PaymentQuestion } from "./payment-plan.ts";
import { minLeftOf, maxGasOfCalls, planFillThroughCalls } from "./plan-fill-through-calls.ts";
import type { CallsOfFill } from "./plan-fill-through-calls.ts";
import { planFillWithCalls, valueOf } from "./plan-fill-with-calls.ts";
import { planFillWithSwap } from "./plan-fill-with-swap.ts";
import { planFillWithTopup } from "./plan-fill-with-topup.ts";
import { topupGas } from "./topup-gas.ts";
import { limitJobs } from "./non-evm/limit-jobs.ts";
import { planFillByRail } from "./non-evm/plan-fill-by-rail.ts";
import { hasInventory } from "./non-evm/rail-payment.ts";
import { sendRailSlot } from "./non-evm/send-rail-slot.ts";
import { endOf, isRail } from "../http/request-end.ts";
import { resumeSlot } from "./resume-slot.ts";
import { sendSlot } from "./send-slot.ts";
import { transition } from "../requests/index.ts";
import { whyMaybePaid } from "./unexplained-nonces.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";

type Needs = Pick<
  WorkerServices,
  | "clock"
  | "chains"
  | "prices"
  | "liquidity"
  | "signer"
  | "depositAddressOperator"
  | "formerSigners"
  | "executor"
  | "uow"
  | "reads"
  | "events"
  | "enginePolicy"
  | "planFaults"
  | "quotePolicy"
  | "appBalance"
  | "sendFill"
>;

/**
 * Pays the recipient of a request with a confirmed deposit or a fast fill: decides the amount, simulates the
 * payment, reserves a nonce together with the state change, then sends. Idempotent in any number of
 * processes: the request's lock and its one live nonce allow one payment.
 * @throws RpcFault, ServiceError (prices): nothing was decided, the job retries. A failure that persists for
 * `inventoryWaitMs` is final.
 */
export async function fillDestination(services: Needs, requestId: RequestId): Promise<Progress> {
  const request = await services.reads.request(requestId);
  if (request === undefined) return DONE;
  const { name } = request.state;
  const onRail = services.chains.rail(request.terms.destination.chainId);
  if (onRail !== undefined && (name === "filling" || name === "fillable"))
    return await limitJobs(onRail, "fill", async () => await goOn(services, request));
  return await goOn(services, request);
}

async function goOn(services: Needs, request: RequestRecord): Promise<Progress> {
  const { requestId } = request.terms;
  if (request.state.name === "filling") {
    // A process died between reserving the nonce and sending: the bytes are, or will be, the same.
    const slot = await services.reads.slotOfLeg("fill", requestId);
    if (slot) await resumeSlot(services, slot);
    return DONE;
  }
  if (request.state.name === "filled" && request.state.final && request.terms.appFees !== undefined)
    return await creditLate(services, requestId);
  if (request.state.name !== "fillable") return DONE;
  const { terms } = request;
  const checkedAtMs = performance.now();
  const maybePaid = whyMaybePaid(services, terms.destination.chainId, terms);
  maybePaid.catch(() => undefined);
  const decided = await decideFill(services, request, maybePaid).catch(async (error: unknown) => {
    // Rethrows: must not give up while it is unknown whether the fill was paid.
    const why = await maybePaid;
    if (why !== undefined) return untilExplained(services, requestId, why);
    const { inventoryWaitMs } = services.enginePolicy;
    const nowMs = services.clock.nowMs();
    const failedForMs = services.planFaults.failedForMs(requestId, error, nowMs, inventoryWaitMs);
    if (failedForMs === undefined || failedForMs < inventoryWaitMs) throw error;
    const detail = error instanceof Error ? error.message : "planning the fill failed";
    return await giveUp(services, request, "UNKNOWN", detail);
  });
  services.planFaults.clear(requestId);
  return "waitMs" in decided ? decided : await commitAndSend(services, request, decided, checkedAtMs);
}

/** Decides what to pay and how; or not to pay, for now or for good. */
async function decideFill(
  services: Needs,
  request: RequestRecord,
  maybePaid: Promise<string | undefined>,
): Promise<Progress | PlannedFill> {
  const { requestId } = request.terms;
  const [basis, execution] = await Promise.all([
    fillBasisOf(services, request),
    services.reads.execution(requestId),
  ]);
  if (basis === undefined) return DONE;

  const { terms } = request;
  // Settlement needs the signature of the solver that the order names.
  if (orderSignerOf(services, terms.order.solver) === undefined)
    return giveUp(services, request, "NO_QUOTES", "the order names a solver whose key is not configured");
  const origin = endOf(services.chains, terms.origin.chainId);
  const destination = endOf(services.chains, terms.destination.chainId);
  if (origin === undefined || destination === undefined)
    return wait(services, request, "the chain is disabled");
  const { currency, chainId } = terms.destination;
  if (isRail(destination)) {
    const due = await amountToPay(services, request, basis, { origin, destination }, false);
    if (due.kind === "refund") return giveUp(services, request, due.reason);
    if (due.kind === "wait") return wait(services, request, due.why, "SLIPPAGE");
    if (execution?.destination !== undefined)
      return giveUp(
        services,
        request,
        "EXECUTION_REVERTED",
        "calls are not supported with a fill on a non-EVM chain",
      );
    const planned = await planFillByRail(services, destination, request, due.amount);
    if (planned.kind === "refused")
      return giveUp(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
    if (terms.sponsorship !== undefined) await warmPrices(services);
    return {
      basis,
      destination,
      plan: planned.plan,
      amount: due.amount,
      sponsoredUsd: due.sponsoredUsd ?? 0n,
      topupUsd: 0n,
      burn: { spentUsd: 0n, uncoveredUsd: 0n },
    };
  }
  const [toContract, whyPaid] = await Promise.all([
    isNativeToContract(destination, currency, terms.recipient),
    maybePaid,
  ]);
  if (whyPaid !== undefined) return untilExplained(services, requestId, whyPaid);
  const due = await amountToPay(services, request, basis, { origin, destination }, toContract);
  if (due.kind === "refund") return giveUp(services, request, due.reason);
  if (due.kind === "wait") return wait(services, request, due.why, "SLIPPAGE");

  const native = {
    decimals: destination.chain.native.decimals,
    priceUsd: await services.prices.usd(destination.chain.native),
  };
  const { fill: fillGas, swapFill } = services.quotePolicy.gas;
  const destinationCurrency = services.chains.currency(chainId, currency);
  // The output of a swap may be any token.
  const pricedGas =
    due.budget === undefined && terms.gasTopup === undefined && destinationCurrency !== undefined
      ? gasOf(fillGas, destinationCurrency, toContract)
      : swapFill + (topupGas(services.quotePolicy.gas, terms.gasTopup?.amount) ?? 0n);
  // A gas top-up calls the recipient, who may have deployed code since the quote.
  const runsForeignCode =
    toContract || due.budget !== undefined || terms.outputCalls !== undefined || terms.gasTopup !== undefined;
  const isRouted = runsForeignCode || execution?.destination !== undefined;
  if (isRouted && terms.order.output.extraData !== fillContractOf(destination))
    return giveUp(services, request, "NO_QUOTES", FORMER_ROUTER);
  const mayBurn = basis.kind === "deposit" && runsForeignCode;
  const unpaidUsd = mayBurn ? await unpaidRevertedGasUsd(services) : 0n;
  if (mayBurn && unpaidUsd >= services.enginePolicy.maxUnpaidBurntUsd)
    return wait(
      services,
      request,
      `reverted fills cost the solver $${formatUsd(unpaidUsd)} in 24 hours, so BURNT_FILLS_DAILY_USD is used up`,
      "SOLVER_CAPACITY_EXCEEDED",
    );
  const question: PaymentQuestion = {
    leg: { kind: "fill", requestId },
    currency: terms.destination.currency,
    amount: due.amount,
    recipient: terms.recipient,
    orderId: terms.orderId,
    cancelAfterMs: terms.fillDeadlineMs + services.enginePolicy.cancelAfterDeadlineMs,
    toContract,
    maxGas: gasAllowance(destination, pricedGas, native),
  };
  const destinationCalls = execution?.destination;
  if (destinationCalls !== undefined && terms.outputCalls !== undefined)
    return giveUp(
      services,
      request,
      "EXECUTION_REVERTED",
      "destinationChainExecutionData is not supported for a quote with txs",
    );
  // The reservation covers one attempt: calls that already had a cost, or are no longer paid for, are not
  // retried.
  if (
    destinationCalls !== undefined &&
    (execution?.settled === true || execution?.destinationUsd !== undefined)
  )
    return giveUp(
      services,
      request,
      "EXECUTION_REVERTED",
      "the calls of the fill were already charged or given up",
    );
  if (destinationCalls !== undefined && (due.budget !== undefined || terms.gasTopup !== undefined))
    return giveUp(
      services,
      request,
      "EXECUTION_REVERTED",
      "destinationChainExecutionData is not supported for a fill with a swap or with topupGas",
    );
  const planned =
    terms.outputCalls !== undefined
      ? await planFillThroughCalls(
          services,
          destination,
          question,
          callsOf(services, terms.outputCalls),
          due.budget,
        )
      : destinationCalls !== undefined
        ? await planFillWithCalls(services, destination, question, destinationCalls)
        : due.budget !== undefined
          ? await planFillWithSwap(services, destination, question, due.budget, terms.gasTopup?.amount)
          : terms.gasTopup !== undefined
            ? await planFillWithTopup(services, destination, question, terms.gasTopup.amount)
            : await planPayment(services, destination, question);
  if (planned.kind === "callsFail") return giveUp(services, request, "EXECUTION_REVERTED", planned.reason);
  if (planned.kind === "short") return wait(services, request, planned.why, planned.reason);
  if (planned.kind === "notApproved") return wait(services, request, planned.why);
  if (planned.kind === "moved") return wait(services, request, planned.why, "SLIPPAGE");
  if (planned.kind === "refused")
    return giveUp(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
  if (planned.kind === "dear") return wait(services, request, planned.why, "QUOTED_GAS_LIMIT_EXCEEDED");
  if (planned.kind === "tooDear")
    return giveUp(
      services,
      request,
      "QUOTED_GAS_LIMIT_EXCEEDED",
      `the fill would use ${planned.gas} gas, more than allowed`,
    );
  if (planned.kind === "insufficientFunds")
    return wait(services, request, "the solver lacks the funds for the fill");
  if (planned.kind === "reverts") {
    // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
    if (destination.pulse.solverBalance(terms.destination.currency).amount < due.amount)
      return wait(services, request, "the solver's inventory does not cover the fill");
    return giveUp(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
  }
  if (destinationCalls !== undefined && valueOf(destinationCalls.calls) > 0n) {
    const { salePriceUsd = destinationCalls.coinUsd } = destinationCalls;
    const why = await whySaleWaits(services, requestId, destination.chain.native, salePriceUsd);
    if (why !== undefined) return wait(services, request, why, "SLIPPAGE");
  }
  if (terms.sponsorship !== undefined) await warmPrices(services);
  const { plan } = planned;
  const sponsoredUsd = due.sponsoredUsd ?? 0n;
  const uncoveredUsd = mayBurn
    ? await uncoveredBurnUsd(services, terms, basis.deposit, plan, sponsoredUsd)
    : 0n;
  return {
    basis,
    destination,
    plan,
    amount: due.amount,
    sponsoredUsd,
    topupUsd: amountToUsdUp(terms.gasTopup?.amount ?? 0n, native),
    burn: { spentUsd: unpaidUsd, uncoveredUsd },
  };
}

/** Credits app fees of a fill that became final while there was no fresh price. */
async function creditLate(services: Needs, requestId: RequestId): Promise<Progress> {
  const outcome = await services.uow.run(async (tx) => {
    const current = await tx.requests.lock(requestId);
    if (current?.state.final !== true) return "done";
    const settled = await settleFees(services, tx, current);
    if (settled === "done") await tx.ledger.feesCredited(requestId);
    return settled;
  });
  return outcome === "done" ? DONE : { waitMs: 5_000, why: "no fresh price for the app fees" };
}

function callsOf(services: Needs, outputCalls: OutputCalls): CallsOfFill {
  return {
    ...outputCalls,
    minLeft: minLeftOf(outputCalls),
    maxGas: maxGasOfCalls(services, outputCalls),
  };
}

interface PlannedFill {
  readonly basis: FillBasis;
  readonly destination: RequestEnd<PayingRail>;
  readonly plan: SlotPlan;
  readonly amount: bigint;
  /** What a sponsor pays, in USD with 18 decimals. */
  readonly sponsoredUsd: bigint;
  /** Native tokens paid as a gas top-up, in USD with 18 decimals. */
  readonly topupUsd: bigint;
  /** Gas of reverted fills that the solver paid itself, and what this fill may add. USD with 18 decimals. */
  readonly burn: { readonly spentUsd: bigint; readonly uncoveredUsd: bigint };
}

/**
 * Whether the fills in progress and this one stay within the daily limit if all of them revert. The first one
 * may exceed it, or no fill could be made.
 */
async function mayBurnToo(
  { enginePolicy }: Needs,
  tx: Pick<Tx, "fillBurns">,
  { spentUsd, uncoveredUsd }: PlannedFill["burn"],
): Promise<boolean> {
  if (uncoveredUsd === 0n) return true;
  const underWayUsd = await tx.fillBurns.lockUnderWay();
  return underWayUsd === 0n || spentUsd + underWayUsd + uncoveredUsd <= enginePolicy.maxUnpaidBurntUsd;
}

/** How the lane of the destination pays. */
interface Payer {
  /** Whether the solver's balances cover the fill. Call with the lane locked. */
  covers(tx: Tx): Promise<boolean>;
  send(slotId: string): Promise<unknown>;
  /** Reserves and sends a plain fill together with others. Absent: each is sent by itself. */
  readonly sendFill?: (fill: FillPlan) => Promise<FillSent>;
}

function payerOf(services: Needs, destination: RequestEnd<PayingRail>, plan: SlotPlan): Payer {
  if (isRail(destination))
    return {
      covers: async (tx) => await hasInventory(tx, destination, plan),
      send: async (slotId) => await sendRailSlot(services, destination, slotId),
    };
  const { sendFill } = services;
  return {
    covers: async (tx) => await laneFunds(tx, destination, plan.sender).take(plan),
    send: async (slotId) => await sendSlot(services, slotId),
    ...(sendFill === undefined ? {} : { sendFill: async (fill) => await sendFill(destination, fill) }),
  };
}

async function commitAndSend(
  services: Needs,
  request: RequestRecord,
  planned: PlannedFill,
  checkedAtMs: number,
): Promise<Progress> {
  const { basis, destination, plan, amount, sponsoredUsd, burn } = planned;
  const { requestId } = request.terms;
  const exposures = exposuresOf(services, request.terms, planned);
  const payer = payerOf(services, destination, plan);
  const isPlain = request.terms.sponsorship === undefined && burn.uncoveredUsd === 0n && exposures.size === 0;
  if (isPlain && basis.kind === "deposit" && payer.sendFill !== undefined) {
    const sent = await payer.sendFill({ requestId, basis, plan, amount, checkedAtMs });
    if (sent === "late") {
      const why = "the checks of the fill are too old";
      services.events.alarm("fill_waits", { requestId, why });
      return { waitMs: 1_000, why };
    }
    return sent === "short" ? wait(services, request, SHORT) : DONE;
  }
  const outcome = await services.uow
    .run(async (tx) => {
      const current = await tx.requests.lock(requestId);
      if (current === undefined || !isBasisOf(basis, current.state)) return "moved" as const;
      // The sponsor's whole share is reserved, or the fill is not made.
      const fees = await reserveSponsorship(services, tx, current.terms, sponsoredUsd);
      if (fees.kind === "refused") return fees;
      if (!(await mayBurnToo(services, tx, burn))) throw new BurnsReached();
      await tx.lanes.lockLane(plan.chainId, plan.sender);
      if (!(await payer.covers(tx))) return "short" as const;
      // Last, so that a fill that does not start is not counted.
      const reached = await addExposures(services, tx, exposures);
      if (reached !== undefined) throw new ExposureReached(reached);
      const slot = await tx.lanes.reserve({ ...plan, delivers: amount }, services.clock.nowMs());
      if (burn.uncoveredUsd > 0n) await tx.fillBurns.noteUnderWay(slot.id, burn.uncoveredUsd);
      await transition(
        services,
        tx,
        current,
        { kind: "fillPlanned" },
        {},
        {
          nonce: slot.nonce,
          amount,
        },
      );
      return { slotId: slot.id };
    })
    .catch((error: unknown) => {
      if (error instanceof LegTaken) return "moved" as const;
      if (error instanceof ExposureReached) return "exposed" as const;
      if (error instanceof BurnsReached) return "burns" as const;
      // The value of a sponsor's balance is unknown; permanently, if the operator removed a currency that it
      // owes.
      if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED")
        return { unpriced: error.message };
      throw error;
    });
  if (outcome === "moved") return DONE;
  if (outcome === "short") return wait(services, request, SHORT);
  if (outcome === "burns")
    return wait(
      services,
      request,
      "fills in progress could use up the rest of BURNT_FILLS_DAILY_USD if they revert",
      "SOLVER_CAPACITY_EXCEEDED",
    );
  if (outcome === "exposed")
    return wait(
      services,
      request,
      "PRICE_EXPOSURE_USD_PER_MINUTE is used up for an asset of the fill",
      "SLIPPAGE",
    );
  if ("unpriced" in outcome) return wait(services, request, outcome.unpriced, "SPONSOR_BALANCE_TOO_LOW");
  if ("why" in outcome) return giveUp(services, request, "SPONSOR_BALANCE_TOO_LOW", outcome.why);
  services.events.happened("fill_planned", {
    requestId,
    chain: destination.chain.name,
    amount,
    fast: basis.kind === "front",
    tookMs: services.clock.nowMs() - basis.sinceMs,
  });
  await payer.send(outcome.slotId);
  return DONE;
}

const SHORT = "the solver's inventory does not cover the fill";

/** Rolls back the whole commit, including the sponsor's reservation. */
class BurnsReached extends Error {}

/** Rolls back the whole commit: one of two assets may already be counted. */
class ExposureReached extends Error {}

/**
 * What a fill between different assets counts against the limit of each, in USD with 18 decimals by price id,
 * since a depegged stablecoin is a wrong price like any other. Includes app fees converted from the deposit,
 * and a gas top-up.
 */
function exposuresOf(
  { chains }: Pick<Needs, "chains">,
  { origin, destination, inputUsd, appFees }: RequestTerms,
  { basis, topupUsd }: Pick<PlannedFill, "basis" | "topupUsd">,
): ReadonlyMap<string, bigint> {
  const exposed = new Map<string, bigint>();
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (deposited === undefined) return exposed;
  // The filled amount, not the quoted one: a partial fast fill must not use up the limit for the whole.
  const input = basis.kind === "front" ? basis.promised.inputAmount : basis.deposit.amount;
  const usd = origin.amount === 0n ? inputUsd : mulDivUp(inputUsd, input, origin.amount);
  const paidFrom = chains.currency(destination.chainId, destination.paidFrom ?? destination.currency);
  const feesIn = appFees && chains.currency(appFees.chainId, appFees.currency);
  const expose = (to: Currency | undefined, partUsd: bigint): void => {
    if (to === undefined || isOneAsset(pairClassOf(deposited, to))) return;
    for (const { priceId } of [deposited, to])
      if (partUsd > (exposed.get(priceId) ?? 0n)) exposed.set(priceId, partUsd);
  };
  expose(paidFrom, usd);
  if (topupUsd > 0n) expose(chains.currency(destination.chainId, NATIVE_CURRENCY), topupUsd);
  expose(feesIn, bpsOfUp(usd, appBpsOf(appFees?.fees ?? [])));
  return exposed;
}

/** Never gives up: the recipient may have been paid, and then the deposit must not be refunded. */
function untilExplained(services: Needs, requestId: RequestId, why: string): Progress {
  services.events.alarm("fill_waits", { requestId, why });
  return { waitMs: 1_000, why };
}

/**
 * Waits for temporary obstacles, but not forever: then the deposit is refunded, or a fast fill waits for its
 * deposit again.
 */
async function wait(
  services: Needs,
  request: RequestRecord,
  why: string,
  reason: FailReason = "SOLVER_BALANCE_TOO_LOW",
): Promise<Progress> {
  const { terms, updatedAtMs } = request;
  // Since it became fillable: `updatedAtMs` changes with any deposit that names its order.
  const sinceMs = (await services.reads.stateSinceMs(terms.requestId)) ?? updatedAtMs;
  const waitedMs = services.clock.nowMs() - sinceMs;
  if (waitedMs > services.enginePolicy.inventoryWaitMs) return giveUp(services, request, reason, why);
  services.events.alarm("fill_waits", { requestId: terms.requestId, why, waitedMs });
  return { waitMs: 1_000, why };
}

/** @throws RpcFault: it is unknown whether the recipient was paid, and nothing was given up */
async function giveUp(
  services: Needs,
  { terms }: RequestRecord,
  reason: FailReason,
  detail?: string,
): Promise<Progress> {
  const { requestId } = terms;
  const maybePaid = await whyMaybePaid(services, terms.destination.chainId, terms);
  if (maybePaid !== undefined) return untilExplained(services, requestId, maybePaid);
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record)
      await transition(services, tx, record, { kind: "fillImpossible", reason }, {}, { reason, detail });
  });
  services.events.alarm("fill_impossible", { requestId, reason, detail });
  return DONE;
}
