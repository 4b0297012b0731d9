import type {
  Address,
  GasTopup,
  Hex32,
  Order,
  PricedUnit,
  PricingFacts,
  RequestId,
  RequestTerms,
} from "@causeway/domain";
import {
  amountToUsdDown,
  convertUp,
  firmUntil,
  MAX_REVERTED_FILLS,
  NATIVE_CURRENCY,
  orderIdOf,
  refundAmount,
  topupCost,
  topupFee,
} from "@causeway/domain";
import type { Market } from "./market.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import { fillContractOf } from "../chains/index.ts";
import { permitGasUnits } from "./permits/permit-gas.ts";
import { type RoutePricing } from "../markets/index.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import type { ChosenRoute, RouteGuarantee, RouteValues } from "./routing/chosen-route.ts";
import type { ValuedRoute } from "./routing/choose-route.ts";
import { routeGuaranteeOf } from "./routing/route-guarantee.ts";

/** A client sends this referrer to test refunds. */
export const FORCE_REFUND_REFERRER = "debug-force-refund";

/** How long a payment that reached its deposit address in time may take to be deposited and filled. */
const SWEEP_GRACE_MS = 24 * 3600_000;

export interface FixTermsServices {
  readonly market: Pick<Market, "costOfPaying">;
  readonly quotePolicy: QuotePolicy;
  readonly solver: Address;
}

/** The parts of the terms that do not depend on the question. */
export interface Stamp {
  readonly nowMs: number;
  readonly salt: Hex32;
  readonly requestId: RequestId;
  /** The nonce of the user's transfer, on chains where a transfer carries no other id. */
  readonly walletNonce: number | undefined;
}

export interface Agreement {
  readonly terms: RequestTerms;
  readonly guarantee: RouteGuarantee;
  /** Minimum refund at current gas prices with the policy's margin, in base units of the deposit. */
  readonly refundMinimum: bigint;
}

/**
 * Fixes the terms and the order, whose hash identifies the deposit.
 * @param keyId the client's API key, if any
 */
export function fixTerms(
  services: FixTermsServices,
  question: QuoteQuestion,
  { route, values }: ValuedRoute,
  { nowMs, salt, requestId, walletNonce }: Stamp,
  keyId: string | undefined,
): Agreement {
  const { quotePolicy } = services;
  const { origin, destination, originCurrency, destinationCurrency, user, recipient, refundTo } = question;
  const { trade, deposited } = route;
  const isRouted = trade.origin !== undefined;
  const guarantee = routeGuaranteeOf(quotePolicy, question, route);
  const deposit = trade.priced.input;
  // Refunds scale with the deposit, so the minimum refund is computed from the smallest allowed deposit.
  const minInput = guarantee.minDeposit ?? deposit;
  const refundMinimum = minRefund(services, question, route, values, minInput);

  const lifetimeSeconds = question.ttlSeconds ?? quotePolicy.orderLifetimeSeconds;
  const payByMs = nowMs + lifetimeSeconds * 1000;
  // A payment to a deposit address must be confirmed and swept before it is a deposit, and the sweep may have
  // to wait for gas. The order must outlive that.
  const usesDepositAddress = question.sweepGas !== undefined;
  const fillDeadlineMs = payByMs + (usesDepositAddress ? SWEEP_GRACE_MS : 0);
  // The order outlives the fill deadline: a fill that is mined after the order's deadline is not attested,
  // and the solver is not repaid.
  const deadline = Math.ceil(fillDeadlineMs / 1000) + quotePolicy.fillGraceSeconds;

  const gasTopup = route.kind === "bridge" ? gasTopupOf(route.pricing.facts) : undefined;
  const order: Order = {
    version: "v1",
    solverChainId: quotePolicy.solverChainName,
    solver: services.solver,
    salt,
    inputs: [
      {
        payment: {
          chainId: origin.chain.name,
          currency: deposited.address,
          amount: minInput,
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
          minimumAmount: guarantee.minimumAmount,
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
    requestId,
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
      ...(guarantee.minDeposit !== undefined && { minimumAmount: guarantee.minDeposit }),
    },
    ...(route.kind === "bridge" &&
      isRouted && { input: { currency: originCurrency.address, amount: trade.input } }),
    destination: {
      chainId: destination.chain.id,
      currency: destinationCurrency.address,
      expectedAmount: trade.expected,
      minimumAmount: guarantee.minimumAmount,
      ...(route.kind === "bridge" && trade.destination !== undefined && { paidFrom: route.paidFrom.address }),
    },
    ...(question.surplusToSolver && guarantee.minDeposit !== undefined && { surplusToSolver: true as const }),
    ...(route.kind === "bridge" &&
      (isRouted || trade.destination !== undefined) && { pairClass: route.pricing.pairClass }),
    ...(gasTopup !== undefined && { gasTopup }),
    inputUsd: amountToUsdDown(deposit, values.deposited),
    ...(route.kind === "bridge" && route.originGasUsd !== undefined && { originGasUsd: route.originGasUsd }),
    ...(keyId !== undefined && { keyId }),
    ...(walletNonce !== undefined && { walletNonce }),
    // A deposit through the router always contains its order id.
    explicitDeposit: question.explicitDeposit || isRouted,
    createdAtMs: nowMs,
    firmUntilMs: firmUntil(nowMs, quotePolicy.firmSeconds, payByMs),
    fillDeadlineMs,
    ...(usesDepositAddress && { payByMs }),
    referrer: question.referrer,
    forceRefund: question.referrer === FORCE_REFUND_REFERRER,
    order,
  };
  return { terms, guarantee, refundMinimum };
}

function gasTopupOf(facts: PricingFacts): GasTopup | undefined {
  const { topupWei } = facts;
  if (topupWei === undefined) return undefined;
  return { amount: topupWei, charged: topupCost(topupWei, facts) + topupFee(topupWei, facts) };
}

function minRefund(
  { market, quotePolicy: policy }: FixTermsServices,
  question: QuoteQuestion,
  route: ChosenRoute,
  values: RouteValues,
  deposit: bigint,
): bigint {
  const { deposited, trade } = route;
  const { origin, from, originCurrency, refundTo, sweepGas = 0n, permit, originGasOverhead = 0 } = question;
  // Gas cannot be deducted from a token without a price. Such a token is never deposited.
  if (values.deposited.priceUsd === 0n) return deposit;
  // The refund also pays for the transaction in which the service made the deposit.
  const permitGas =
    permit === undefined
      ? 0n
      : permitGasUnits(policy.gas, permit.method, {
          paid: originCurrency,
          deposited,
          originSwap: trade.origin,
        }) + BigInt(originGasOverhead);
  const cost = from.refundCost(policy, deposited, {
    payment: market.costOfPaying(origin, deposited.address, refundTo, "originChainId"),
    depositGas: sweepGas + permitGas,
  });
  const refund = refundAmount(deposit, cost, values.originNative, values.deposited);
  // `addCalls` deducts the gas of calls.
  const revertedGas =
    route.kind === "bridge" && question.calls === undefined
      ? gasOfRevertedFills(route.pricing, values.deposited)
      : 0n;
  const remaining = refund.kind === "refund" ? refund.amount - revertedGas : 0n;
  // An amount below the chain's minimum cannot be refunded.
  return remaining > 0n && remaining >= from.minPayment ? remaining : 0n;
}

/** Cost of the gas that reverted fills may use, in base units of the deposit. The refund is reduced by it. */
export function gasOfRevertedFills(
  { runsForeignCode, facts }: Pick<RoutePricing, "runsForeignCode" | "facts">,
  deposited: PricedUnit,
): bigint {
  if (!runsForeignCode) return 0n;
  return convertUp(facts.fillGasCostWei * BigInt(MAX_REVERTED_FILLS), facts.destinationNative, deposited);
}
