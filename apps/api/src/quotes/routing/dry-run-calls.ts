import type { OrderId, PricedUnit } from "@causeway/domain";
import {
  valueOfCalls,
  convertUp,
  encodeOrderCall,
  minRemainder,
  orderIdOf,
  ServiceError,
  type OutputCalls,
} from "@causeway/domain";
import {
  type CallsOfFill,
  type FillPlanServices,
  maxGasOfCalls,
  planTransaction,
  type TransactionPlanResult,
  withHeadroom,
} from "../../payments/index.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import { evmOf } from "../sides/side.ts";
import type { Agreement } from "../quote-terms.ts";
import { MAX_CALLS_GAS, refuseBeyondOutput } from "./requested-calls.ts";
import type { BridgeRoute } from "./chosen-route.ts";
import { chooseRoute } from "./choose-route.ts";
import type { RouteServices, ValuedRoute } from "./choose-route.ts";
import { failedFill } from "./failed-fill.ts";
import type { RequestedCalls } from "./fill-options.ts";

export interface DryRunServices extends RouteServices, Omit<FillPlanServices, "signer"> {
  readonly solver: FillPlanServices["signer"]["address"];
}

type WithCalls = QuoteQuestion & { readonly calls: RequestedCalls };

/** Order id for dry runs; no real order has it. Zero bytes would cost less gas than a real id. */
const NO_ORDER: OrderId = `0x${"ff".repeat(32)}` as const;
/** Swaps in a dry run are bounded by the solver's balance. */
const ANY_AMOUNT = 2n ** 255n;

/**
 * Sets the gas of the question's calls: the client's limit, or the gas that a dry run uses. The dry run's
 * output is not yet reduced by that gas.
 * @throws ServiceError DESTINATION_TX_FAILED and others; RpcFault
 */
export async function priceCalls(services: DryRunServices, unpriced: QuoteQuestion): Promise<QuoteQuestion> {
  const { calls } = unpriced;
  if (calls === undefined || calls.gasLimit !== undefined) return unpriced;
  const question = { ...unpriced, calls };
  const { route } = await services.market.decide(() => chooseRoute(services, question));
  const bridge = bridgeOf(route);
  refuseBeyondOutput(valueOfCalls(calls.calls), bridge.trade.expected);
  const { gas } = await dryRun(services, question, bridge, bridge.trade.expected);
  const { swapFill } = services.quotePolicy.gas;
  const callsGas = withHeadroom(gas) - swapFill - (bridge.trade.destination?.gas ?? 0n);
  return { ...question, calls: { ...calls, gas: callsGas > 0n ? callsGas : 0n } };
}

/**
 * Adds the calls to the order. Dry runs with the expected and the minimum output determine the leftover
 * of the calls, which the order guarantees to the recipient.
 * @throws ServiceError DESTINATION_TX_FAILED when the calls fail; INVALID_EXTRA_TXS when they send or use too
 * much; RpcFault
 */
export async function addCalls(
  services: DryRunServices,
  question: WithCalls,
  { route, values }: ValuedRoute,
  agreement: Agreement,
): Promise<Agreement> {
  const { terms, guarantee } = agreement;
  const { calls } = question;
  const { expectedAmount, minimumAmount, currency } = terms.destination;
  const callValue = valueOfCalls(calls.calls);
  refuseBeyondOutput(callValue, expectedAmount);
  // If the output is less than the value that the calls send, they are not made and the deposit is refunded.
  const minOutput = minimumAmount > callValue ? minimumAmount : callValue;
  const bridge = bridgeOf(route);
  const [expectedRun, lowestRun] = await Promise.all([
    dryRun(services, question, bridge, expectedAmount),
    minOutput === expectedAmount ? undefined : dryRun(services, question, bridge, minOutput),
  ]);
  const minimumRun = lowestRun ?? expectedRun;
  const slippageBps =
    guarantee.slippageBps > 0
      ? guarantee.slippageBps
      : (question.slippageBps ?? services.quotePolicy.automaticSlippageBps[bridge.pricing.pairClass]);
  const minimum = minRemainder(minOutput, minimumRun.leftOutput, slippageBps);
  const outputCalls: OutputCalls = {
    calls: calls.calls,
    gas: calls.gas,
    left: {
      expected: expectedRun.leftOutput,
      minimum: minimum < expectedRun.leftOutput ? minimum : expectedRun.leftOutput,
    },
    ...(calls.authorizationList && { authorizationList: calls.authorizationList }),
  };
  refuseBeyondGas(
    services,
    calls,
    bridge,
    expectedRun.gas > minimumRun.gas ? expectedRun.gas : minimumRun.gas,
  );
  const { output, inputs } = terms.order;
  const refundMinimum = deductRevertedGas(
    agreement.refundMinimum,
    services,
    question,
    bridge,
    values.deposited,
  );
  const order = {
    ...terms.order,
    inputs: inputs.map((input) => ({
      ...input,
      refunds: input.refunds.map((refund) => ({ ...refund, minimumAmount: refundMinimum })),
    })),
    output: {
      ...output,
      payments: [
        {
          recipient: terms.recipient,
          currency,
          minimumAmount: outputCalls.left.minimum,
          expectedAmount: outputCalls.left.expected,
        },
      ],
      calls: calls.calls.map(encodeOrderCall),
    },
  };
  return { ...agreement, refundMinimum, terms: { ...terms, outputCalls, order, orderId: orderIdOf(order) } };
}

/** Lowers the minimum refund by the gas of a fill whose calls revert on chain after a successful dry run. */
function deductRevertedGas(
  refund: bigint,
  services: DryRunServices,
  { to, calls }: WithCalls,
  { pricing, trade }: BridgeRoute,
  deposited: PricedUnit,
): bigint {
  const gas = maxGasOfCalls(services, calls) + (trade.destination?.gas ?? 0n);
  const wei = gas * evmOf(to).pulse.gasPrices().maxFeePerGas;
  const gasCost = convertUp(wei, pricing.facts.destinationNative, deposited);
  return refund > gasCost ? refund - gasCost : 0n;
}

function refuseBeyondGas(
  services: DryRunServices,
  calls: RequestedCalls,
  { trade }: BridgeRoute,
  gas: bigint,
): void {
  const maxGas = maxGasOfCalls(services, calls) + (trade.destination?.gas ?? 0n);
  if (gas <= maxGas) return;
  const needed = calls.gas + gas - maxGas;
  throw new ServiceError("INVALID_EXTRA_TXS", `txsGasLimit must be at least ${needed}, got ${calls.gas}`, {
    field: "txsGasLimit",
    data: { txsGasLimit: calls.gas.toString(), neededGas: needed.toString() },
  });
}

function bridgeOf(route: ValuedRoute["route"]): BridgeRoute {
  if (route.kind === "bridge") return route;
  throw new ServiceError(
    "UNSUPPORTED_EXECUTION_TYPE",
    "txs is not supported on this route: the user swaps in their own transaction",
    {
      field: "txs",
    },
  );
}

interface DryRun {
  readonly gas: bigint;
  readonly leftOutput: bigint;
}

/**
 * Runs the fill against current state. The payment to the recipient shows how much the calls leave over. If
 * the recipient refuses that payment, the calls are tried without it: they may leave nothing over.
 */
async function dryRun(
  services: DryRunServices,
  question: WithCalls,
  { paidFrom, trade }: BridgeRoute,
  output: bigint,
): Promise<DryRun> {
  const { to, destinationCurrency, recipient, calls } = question;
  const destination = evmOf(to);
  const payment = {
    leg: { kind: "fill", id: NO_ORDER, requestId: undefined },
    currency: destinationCurrency.address,
    amount: output,
    recipient,
    orderId: NO_ORDER,
    cancelAfterMs: 0,
    toContract: false,
    maxGas: MAX_CALLS_GAS,
  } as const;
  const attempt = async (minLeft: CallsOfFill["minLeft"]): Promise<TransactionPlanResult> =>
    await planTransaction({ ...services, signer: { address: services.solver } }, destination, {
      payment,
      calls: { ...calls, minLeft },
      swap: trade.destination && { paidFrom: paidFrom.address, planned: ANY_AMOUNT, max: ANY_AMOUNT },
    });
  const first = await attempt(0n);
  const isRefusedByRecipient =
    first.kind === "refund" && first.tried?.failure?.details.innermost.address === recipient;
  const plan = isRefusedByRecipient ? await attempt(undefined) : first;
  if (plan.kind === "ready") return plan;
  if (plan.kind === "refund" && plan.tried !== undefined)
    throw failedFill(destination, services.solver, calls.calls, plan.tried);
  if (plan.kind === "refund" && plan.excessiveGas !== undefined)
    throw new ServiceError(
      "INVALID_EXTRA_TXS",
      `txs must use at most ${MAX_CALLS_GAS} gas, got ${plan.excessiveGas}`,
      { field: "txs", data: { neededGas: plan.excessiveGas.toString() } },
    );
  if (plan.kind === "wait" && plan.isNotApproved === true)
    throw new ServiceError(
      "ERC20_ROUTER_ADDRESS_NOT_FOUND",
      `txs is not supported on ${destination.chain.displayName}: the solver pays with ${paidFrom.symbol} and has not approved the approval proxy to spend enough of it`,
      { field: "destinationCurrency" },
    );
  throw new ServiceError("SERVICE_UNAVAILABLE", "txs could not be simulated; try again", {
    field: "txs",
    data: { why: plan.kind === "wait" ? plan.why : plan.detail },
  });
}
