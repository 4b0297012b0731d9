import { FORMER_ROUTER, amountToUsdUp, formatUsd } from "@causeway/domain";
import type { OutputCalls } from "@causeway/domain";
import type { RequestRecord, SlotPlan } from "../db/records.port.ts";
import { warmPrices } from "../balances/index.ts";
import { uncoveredBurnUsd, unpaidRevertedGasUsd } from "./gas-used-by-fills.ts";
import { whySaleWaits } from "./executions/value-sale.ts";
import { fillBasisOf } from "./fill-basis.ts";
import type { FillBasis } from "./fill-lane.port.ts";
import { fillContractOf, orderSignerOf } from "../chains/index.ts";
import { amountToPay } from "./fill-amount.ts";
import { gasOf } from "../markets/index.ts";
import { gasAllowance, isNativeToContract, planPayment } from "./payment-plan.ts";
import type { PaymentQuestion } from "./payment-plan.ts";
import { minLeftOf, maxGasOfCalls, planFillThroughCalls } from "./plan-fill-through-calls.ts";
import type { CallsOfFill } from "./plan-fill-through-calls.ts";
import { planFillWithCalls, valueOf } from "./plan-fill-with-calls.ts";
import { planFillWithSwap } from "./plan-fill-with-swap.ts";
import { planFillWithTopup } from "./plan-fill-with-topup.ts";
import { topupGas } from "./topup-gas.ts";
import { planFillByRail } from "./non-evm/plan-fill-by-rail.ts";
import { endOf, isNonEvm } from "../http/request-end.ts";
import { DONE } from "../db/wait.ts";
import { giveUpFill, postpone, untilExplained } from "./fill-outcome.ts";
import type { FillChain, FillServices } from "./fill-services.port.ts";
import type { Progress } from "../db/wait.ts";

/** Decides what to pay and how; or not to pay, for now or for good. */
export async function decideFill(
  services: FillServices,
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
    return giveUpFill(services, request, "NO_QUOTES", "the order names a solver whose key is not configured");
  const origin = endOf(services.chains, terms.origin.chainId);
  const destination = endOf(services.chains, terms.destination.chainId);
  if (origin === undefined || destination === undefined)
    return postpone(services, request, "the chain is disabled");
  const { currency, chainId } = terms.destination;
  if (isNonEvm(destination)) {
    const due = await amountToPay(services, request, basis, { origin, destination }, false);
    if (due.kind === "refund") return giveUpFill(services, request, due.reason);
    if (due.kind === "wait") return postpone(services, request, due.why, "SLIPPAGE");
    if (execution?.destination !== undefined)
      return giveUpFill(
        services,
        request,
        "EXECUTION_REVERTED",
        "calls are not supported with a fill on a non-EVM chain",
      );
    const planned = await planFillByRail(services, destination, request, due.amount);
    if (planned.kind === "refused")
      return giveUpFill(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
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
  if (due.kind === "refund") return giveUpFill(services, request, due.reason);
  if (due.kind === "wait") return postpone(services, request, due.why, "SLIPPAGE");

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
    return giveUpFill(services, request, "NO_QUOTES", FORMER_ROUTER);
  const mayBurn = basis.kind === "deposit" && runsForeignCode;
  const unpaidUsd = mayBurn ? await unpaidRevertedGasUsd(services) : 0n;
  if (mayBurn && unpaidUsd >= services.enginePolicy.maxUnpaidRevertedGasUsd)
    return postpone(
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
    return giveUpFill(
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
    return giveUpFill(
      services,
      request,
      "EXECUTION_REVERTED",
      "the calls of the fill were already charged or given up",
    );
  if (destinationCalls !== undefined && (due.budget !== undefined || terms.gasTopup !== undefined))
    return giveUpFill(
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
  if (planned.kind === "callsFail")
    return giveUpFill(services, request, "EXECUTION_REVERTED", planned.reason);
  if (planned.kind === "short") return postpone(services, request, planned.why, planned.reason);
  if (planned.kind === "notApproved") return postpone(services, request, planned.why);
  if (planned.kind === "moved") return postpone(services, request, planned.why, "SLIPPAGE");
  if (planned.kind === "refused")
    return giveUpFill(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
  if (planned.kind === "dear") return postpone(services, request, planned.why, "QUOTED_GAS_LIMIT_EXCEEDED");
  if (planned.kind === "tooDear")
    return giveUpFill(
      services,
      request,
      "QUOTED_GAS_LIMIT_EXCEEDED",
      `the fill would use ${planned.gas} gas, more than allowed`,
    );
  if (planned.kind === "insufficientFunds")
    return postpone(services, request, "the solver lacks the funds for the fill");
  if (planned.kind === "reverts") {
    // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
    if (destination.pulse.solverBalance(terms.destination.currency).amount < due.amount)
      return postpone(services, request, "the solver's inventory does not cover the fill");
    return giveUpFill(services, request, "DESTINATION_TOKEN_TRANSFER_REJECTED", planned.reason);
  }
  if (destinationCalls !== undefined && valueOf(destinationCalls.calls) > 0n) {
    const { salePriceUsd = destinationCalls.coinUsd } = destinationCalls;
    const why = await whySaleWaits(services, requestId, destination.chain.native, salePriceUsd);
    if (why !== undefined) return postpone(services, request, why, "SLIPPAGE");
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

function callsOf(services: FillServices, outputCalls: OutputCalls): CallsOfFill {
  return {
    ...outputCalls,
    minLeft: minLeftOf(outputCalls),
    maxGas: maxGasOfCalls(services, outputCalls),
  };
}

export interface PlannedFill {
  readonly basis: FillBasis;
  readonly destination: FillChain;
  readonly plan: SlotPlan;
  readonly amount: bigint;
  /** What a sponsor pays, in USD with 18 decimals. */
  readonly sponsoredUsd: bigint;
  /** Native tokens paid as a gas top-up, in USD with 18 decimals. */
  readonly topupUsd: bigint;
  /** Gas of reverted fills that the solver paid itself, and what this fill may add. USD with 18 decimals. */
  readonly burn: { readonly spentUsd: bigint; readonly uncoveredUsd: bigint };
}
