import type { OrderId, PricedUnit, RequestId, Soon } from "@causeway/domain";
import {
  coinOf,
  convertUp,
  encodeOrderCall,
  minLeft,
  orderIdOf,
  ServiceError,
  soon,
  type OutputCalls,
} from "@causeway/domain";
import { withHeadroom } from "../../payments/executions/price-execution.ts";
import { maxGasOfCalls, planFillThroughCalls } from "../../payments/plan-fill-through-calls.ts";
import type {
  CallsOfFill,
  FillPlanServices,
  FillThroughCallsPlan,
} from "../../payments/plan-fill-through-calls.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { Agreement } from "../quote-terms.ts";
import { MAX_CALLS_GAS, refuseBeyondOutput } from "./asked-calls.ts";
import type { BridgeRoute } from "./chosen-route.ts";
import { chooseRoute } from "./choose-route.ts";
import type { RouteServices, ValuedRoute } from "./choose-route.ts";
import { failedFill } from "./failed-fill.ts";
import type { AskedCalls } from "./fill-wishes.ts";

export interface DryRunServices extends RouteServices, Omit<FillPlanServices, "signer"> {
  readonly solver: FillPlanServices["signer"]["address"];
}

type WithCalls = QuoteQuestion & { readonly calls: AskedCalls };

/** Nothing that is tried is sent: no order has this id. Without zero bytes, which cost less. */
const NO_ORDER: OrderId = `0x${"ff".repeat(32)}` as const;
/** What an exchange in a dry run may cost: what the solver has bounds it. */
const ANY_AMOUNT = 2n ** 255n;

/**
 * The question with the gas of its calls: what the client reserves, or what they need today when they get
 * what the output would be without that gas.
 * @throws ServiceError DESTINATION_TX_FAILED and others; RpcFault
 */
export function* withCallsPriced(services: DryRunServices, question: WithCalls): Soon<WithCalls> {
  const { calls } = question;
  if (calls.gasLimit !== undefined) return question;
  const { route } = yield* chooseRoute(services, question);
  const bridge = bridgeOf(route);
  refuseBeyondOutput(coinOf(calls.calls), bridge.trade.expected);
  const { gas } = yield* soon(tried(services, question, bridge, bridge.trade.expected));
  const { exchangedFill } = services.quotePolicy.gas;
  const beyond = withHeadroom(gas) - exchangedFill - (bridge.trade.destination?.gas ?? 0n);
  return { ...question, calls: { ...calls, gas: beyond > 0n ? beyond : 0n } };
}

/**
 * What was agreed, with an order that makes the calls: they are tried with what is expected and with the
 * least that they may get, and what they leave then is what the order promises.
 * @throws ServiceError DESTINATION_TX_FAILED when they cannot be made; INVALID_EXTRA_TXS when they carry or
 * burn too much; RpcFault
 */
export async function agreeCalls(
  services: DryRunServices,
  question: WithCalls,
  { route, values }: ValuedRoute,
  agreement: Agreement,
): Promise<Agreement> {
  const { terms, promise } = agreement;
  const { calls } = question;
  const { expectedAmount, minimumAmount, currency } = terms.destination;
  const coin = coinOf(calls.calls);
  refuseBeyondOutput(coin, expectedAmount);
  // With less than they carry they are not made, and the deposit goes back.
  const least = minimumAmount > coin ? minimumAmount : coin;
  const bridge = bridgeOf(route);
  const [usual, worst] = await Promise.all([
    tried(services, question, bridge, expectedAmount),
    least === expectedAmount ? undefined : tried(services, question, bridge, least),
  ]);
  const atLeast = worst ?? usual;
  const slippageBps =
    promise.slippageBps > 0
      ? promise.slippageBps
      : (question.slippageBps ?? services.quotePolicy.automaticSlippageBps[bridge.pricing.pairClass]);
  const minimum = minLeft(least, atLeast.left, slippageBps);
  const outputCalls: OutputCalls = {
    calls: calls.calls,
    gas: calls.gas,
    left: { expected: usual.left, minimum: minimum < usual.left ? minimum : usual.left },
    ...(calls.authorizationList && { authorizationList: calls.authorizationList }),
  };
  refuseBeyondGas(services, calls, bridge, usual.gas > atLeast.gas ? usual.gas : atLeast.gas);
  const { output, inputs } = terms.order;
  const refundMinimum = lessBurnt(agreement.refundMinimum, services, question, bridge, values.deposited);
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

/**
 * What comes back at least when the calls make the fill revert in a block, although they did not when they
 * were tried: its gas is kept of the deposit.
 */
function lessBurnt(
  refund: bigint,
  services: DryRunServices,
  { destination, calls }: WithCalls,
  { pricing, trade }: BridgeRoute,
  deposited: PricedUnit,
): bigint {
  const gas = maxGasOfCalls(services, calls) + (trade.destination?.gas ?? 0n);
  const wei = gas * destination.pulse.gasPrices().maxFeePerGas;
  const burnt = convertUp(wei, pricing.facts.destinationNative, deposited);
  return refund > burnt ? refund - burnt : 0n;
}

function refuseBeyondGas(
  services: DryRunServices,
  calls: AskedCalls,
  { trade }: BridgeRoute,
  gas: bigint,
): void {
  const most = maxGasOfCalls(services, calls) + (trade.destination?.gas ?? 0n);
  if (gas <= most) return;
  const needed = calls.gas + gas - most;
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

interface Tried {
  readonly gas: bigint;
  readonly left: bigint;
}

/**
 * The fill as it would be now. What is left is told by a payment to the recipient; one who takes none may
 * still have calls made that leave nothing.
 */
async function tried(
  services: DryRunServices,
  question: WithCalls,
  { paidFrom, trade }: BridgeRoute,
  given: bigint,
): Promise<Tried> {
  const { destination, destinationCurrency, recipient, calls } = question;
  const attempt = async (left: CallsOfFill["minLeft"]): Promise<FillThroughCallsPlan> =>
    await planFillThroughCalls(
      { ...services, signer: { address: services.solver } },
      destination,
      {
        leg: { kind: "fill", requestId: NO_ORDER as string as RequestId },
        currency: destinationCurrency.address,
        amount: given,
        recipient,
        orderId: NO_ORDER,
        cancelAfterMs: 0,
      },
      { ...calls, minLeft: left, maxGas: MAX_CALLS_GAS },
      trade.destination && { paidFrom: paidFrom.address, planned: ANY_AMOUNT, max: ANY_AMOUNT },
    );
  const first = await attempt(0n);
  const isRecipients = first.kind === "callsFail" && first.failure?.details.innermost.address === recipient;
  const plan = isRecipients ? await attempt(undefined) : first;
  switch (plan.kind) {
    case "ready":
      return plan;
    case "callsFail":
      throw failedFill(destination, services.solver, calls.calls, plan);
    case "tooDear":
      throw new ServiceError(
        "INVALID_EXTRA_TXS",
        `txs must use at most ${MAX_CALLS_GAS} gas, got ${plan.gas}`,
        {
          field: "txs",
          data: { neededGas: plan.gas.toString() },
        },
      );
    case "notApproved":
      throw new ServiceError(
        "ERC20_ROUTER_ADDRESS_NOT_FOUND",
        `txs with ${paidFrom.symbol} are not supported on ${destination.chain.displayName}`,
        { field: "destinationCurrency" },
      );
    case "short":
    case "moved":
      throw new ServiceError("SERVICE_UNAVAILABLE", "txs could not be simulated; try again", {
        field: "txs",
        data: { why: plan.why },
      });
    default:
      return plan satisfies never;
  }
}
