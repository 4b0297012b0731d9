import type { Address, GasTopup, Order, PricingFacts, RequestTerms, Soon } from "@causeway/domain";
import {
  amountToUsdDown,
  convertUp,
  gasCostWei,
  NATIVE_CURRENCY,
  orderIdOf,
  refundAmount,
  topupCost,
  topupFee,
} from "@causeway/domain";
import type { Random } from "../db/random.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import { fillContractOf } from "../chains/fill-contract.ts";
import { permitGasUnits } from "./permits/permit-gas.ts";
import { gasOf } from "../markets/prices/quote-pricing.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import type { ChosenRoute, RouteValues } from "./routing/chosen-route.ts";
import type { ValuedRoute } from "./routing/choose-route.ts";
import { promiseOf } from "./routing/route-promise.ts";
import type { RoutePromise } from "./routing/route-promise.ts";

/** A client that names this as referrer wants to see a refund happen. */
export const FORCE_REFUND_REFERRER = "debug-force-refund";

/** How long money that came to a deposit address in time may take to become a filled deposit. */
const SWEEP_GRACE_MS = 24 * 3600_000;

export interface Agreement {
  readonly terms: RequestTerms;
  readonly promise: RoutePromise;
  /**
   * The least that comes back if the request is refunded, at today's gas with the policy's margin; smallest
   * units of what is deposited.
   */
  readonly refundMinimum: bigint;
}

/**
 * Writes down what the quote promises, as terms and as the order whose hash is the id of the deposit.
 * @param keyId of the API key that asked; undefined: nobody's
 */
export function* agree(
  services: { readonly random: Random; readonly quotePolicy: QuotePolicy; readonly solver: Address },
  question: QuoteQuestion,
  { route, values }: ValuedRoute,
  nowMs: number,
  keyId: string | undefined,
): Soon<Agreement> {
  const { quotePolicy } = services;
  const { origin, destination, originCurrency, destinationCurrency, user, recipient, refundTo } = question;
  const { trade, deposited } = route;
  const isRouted = trade.origin !== undefined;
  const promise = yield* promiseOf(quotePolicy, question, route);
  const deposit = trade.priced.input;
  // What is given back at least is scaled with what came: so it is counted from the least that may come.
  const least = promise.minDeposit ?? deposit;
  const refundMinimum = minRefund(quotePolicy, question, route, values, least);

  const lifetimeSeconds = question.ttlSeconds ?? quotePolicy.orderLifetimeSeconds;
  const payByMs = nowMs + lifetimeSeconds * 1000;
  // What comes to a deposit address in time is confirmed and moved before it is a deposit, and the operator
  // may lack gas: the order outlives that.
  const isToAddress = question.sweepGas !== undefined;
  const fillDeadlineMs = payByMs + (isToAddress ? SWEEP_GRACE_MS : 0);
  // The order outlives the last moment of a fill: one that is mined after the order's deadline is not
  // attested, and not paid for.
  const deadline = Math.ceil(fillDeadlineMs / 1000) + quotePolicy.fillGraceSeconds;

  const gasTopup = route.kind === "bridge" ? gasTopupOf(route.pricing.facts) : undefined;
  const order: Order = {
    version: "v1",
    solverChainId: quotePolicy.solverChainName,
    solver: services.solver,
    salt: services.random.bytes32(),
    inputs: [
      {
        payment: {
          chainId: origin.chain.name,
          currency: deposited.address,
          amount: least,
          weight: 1n,
        },
        refunds: [
          {
            chainId: origin.chain.name,
            recipient: refundTo,
            currency: deposited.address,
            minimumAmount: refundMinimum,
            deadline: deadline + quotePolicy.refundGraceSeconds,
            extraData: fillContractOf(origin),
          },
        ],
      },
    ],
    output: {
      chainId: destination.chain.name,
      payments: [
        {
          recipient,
          currency: destinationCurrency.address,
          minimumAmount: promise.minimumAmount,
          expectedAmount: trade.expected,
        },
        ...(gasTopup === undefined
          ? []
          : [
              {
                recipient,
                currency: NATIVE_CURRENCY,
                minimumAmount: gasTopup.amount,
                expectedAmount: gasTopup.amount,
              },
            ]),
      ],
      calls: [],
      deadline,
      extraData: fillContractOf(destination),
    },
    fees: [],
  };

  const terms: RequestTerms = {
    requestId: services.random.bytes32(),
    orderId: orderIdOf(order),
    kind: route.kind,
    tradeType: question.tradeType,
    user,
    recipient,
    refundTo,
    origin: {
      chainId: origin.chain.id,
      currency: deposited.address,
      amount: deposit,
      ...(promise.minDeposit !== undefined && { minimumAmount: promise.minDeposit }),
    },
    ...(route.kind === "bridge" &&
      isRouted && { input: { currency: originCurrency.address, amount: trade.input } }),
    destination: {
      chainId: destination.chain.id,
      currency: destinationCurrency.address,
      expectedAmount: trade.expected,
      minimumAmount: promise.minimumAmount,
      ...(route.kind === "bridge" && trade.destination !== undefined && { paidFrom: route.paidFrom.address }),
    },
    ...(question.surplusToSolver && promise.minDeposit !== undefined && { surplusToSolver: true as const }),
    ...(route.kind === "bridge" &&
      (isRouted || trade.destination !== undefined) && { pairClass: route.pricing.pairClass }),
    ...(gasTopup !== undefined && { gasTopup }),
    inputUsd: amountToUsdDown(deposit, values.deposited),
    ...(route.kind === "bridge" && route.originGasUsd !== undefined && { originGasUsd: route.originGasUsd }),
    ...(keyId !== undefined && { keyId }),
    // Through the router a deposit always names its order.
    explicitDeposit: question.explicitDeposit || isRouted,
    createdAtMs: nowMs,
    firmUntilMs: Math.min(nowMs + quotePolicy.firmSeconds * 1000, payByMs),
    fillDeadlineMs,
    ...(isToAddress && { payByMs }),
    referrer: question.referrer,
    forceRefund: question.referrer === FORCE_REFUND_REFERRER,
    order,
  };
  return { terms, promise, refundMinimum };
}

function gasTopupOf(facts: PricingFacts): GasTopup | undefined {
  const { topupWei } = facts;
  if (topupWei === undefined) return undefined;
  return { amount: topupWei, charged: topupCost(topupWei, facts) + topupFee(topupWei, facts) };
}

function minRefund(
  policy: QuotePolicy,
  question: QuoteQuestion,
  route: ChosenRoute,
  values: RouteValues,
  deposit: bigint,
): bigint {
  const { deposited, trade } = route;
  const { origin, originCurrency, sweepGas = 0n, permit, originGasOverhead = 0 } = question;
  // Of what has no price nothing can be kept back for gas, and none is ever deposited.
  if (values.deposited.priceUsd === 0n) return deposit;
  // What the service brings to the depository only to send it back pays for that.
  const permitGas =
    permit === undefined
      ? 0n
      : permitGasUnits(policy.gas, permit.method, {
          paid: originCurrency,
          deposited,
          exchanged: trade.origin,
        }) + BigInt(originGasOverhead);
  const cost = gasCostWei(
    gasOf(policy.gas.refund, deposited, false) + sweepGas + permitGas,
    origin.pulse.gasPrices(),
    origin.chain.fees.minPriorityFeeWei,
    policy.refundGasMarginBps,
  );
  const refund = refundAmount(deposit, cost, values.originNative, values.deposited);
  const rest = refund.kind === "refund" ? refund.amount - burnableGas(question, route, values) : 0n;
  return rest > 0n ? rest : 0n;
}

/**
 * A fill may use so many times the gas it was priced with; or revert so often, for one that swaps is tried
 * again.
 */
const MAX_BURNT_FILLS = 3n;

/**
 * What fills may burn that revert in their blocks: it is kept of the deposit. What calls may burn is
 * subtracted where they are agreed.
 */
function burnableGas({ calls }: QuoteQuestion, route: ChosenRoute, { deposited }: RouteValues): bigint {
  if (route.kind !== "bridge" || !route.pricing.runsForeignCode || calls !== undefined) return 0n;
  const { fillGasCostWei, destinationNative } = route.pricing.facts;
  return convertUp(fillGasCostWei * MAX_BURNT_FILLS, destinationNative, deposited);
}
