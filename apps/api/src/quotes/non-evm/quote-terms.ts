import type { Address, Order, RequestTerms } from "@causeway/domain";
import { amountToUsdDown, minimumOutput, orderIdOf, refundAmount } from "@causeway/domain";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { Random } from "../../db/random.port.ts";
import { fillContractOf } from "../../chains/index.ts";
import type { RoutePricing } from "../../markets/index.ts";
import { FORCE_REFUND_REFERRER, gasOfRevertedFills } from "../quote-terms.ts";
import type { RailTrade } from "./quote-limits.ts";
import type { RailQuestion } from "./quote-question.ts";

/** The terms of a quote from or to a non-EVM chain. */
export interface RailAgreement {
  readonly terms: RequestTerms;
  /** Minimum refund at today's cost with the policy's margin, in base units of the deposit. */
  readonly refundMinimum: bigint;
  /** How far the minimum output is below the expected output, in bps. */
  readonly slippageBps: number;
}

export interface RailTermServices {
  readonly random: Random;
  readonly quotePolicy: QuotePolicy;
  readonly solver: Address;
}

/**
 * Fixes the terms and the order whose hash is the id of the deposit. Where transfers carry no id, the nonce
 * of the deposit is part of the terms.
 * @param walletNonce of the user's transfer; absent: the transfer names the order itself
 * @param refundCost of a payment to `refundTo`, in base units of the native token; absent: the usual cost
 */
export function agreeOnRail(
  services: RailTermServices,
  question: RailQuestion,
  { pricing, trade }: { readonly pricing: RoutePricing; readonly trade: RailTrade },
  {
    nowMs,
    walletNonce,
    keyId,
    refundCost,
  }: {
    readonly nowMs: number;
    readonly walletNonce: number | undefined;
    readonly keyId: string | undefined;
    readonly refundCost?: bigint | undefined;
  },
): RailAgreement {
  const { quotePolicy, random, solver } = services;
  const { origin, destination, originCurrency, destinationCurrency, user, recipient, refundTo } = question;
  const slippageBps =
    question.tradeType === "EXACT_OUTPUT"
      ? 0
      : (question.slippageBps ?? quotePolicy.automaticSlippageBps[pricing.pairClass]);
  const minimumAmount = minimumOutput(question.tradeType, trade.expected, slippageBps);
  const refundMinimum = minRefund(quotePolicy, question, pricing, trade.input, refundCost);

  const lifetimeSeconds = question.ttlSeconds ?? quotePolicy.orderLifetimeSeconds;
  const fillDeadlineMs = nowMs + lifetimeSeconds * 1000;
  // The order outlives the fill deadline: a fill that is mined after the order's deadline is not attested,
  // and the solver is not repaid.
  const deadline = Math.ceil(fillDeadlineMs / 1000) + quotePolicy.fillGraceSeconds;
  const order: Order = {
    version: "v1",
    solverChainId: quotePolicy.solverChainName,
    solver,
    salt: random.bytes32(),
    inputs: [
      {
        payment: {
          chainId: origin.chain.name,
          currency: originCurrency.address,
          amount: trade.input,
          weight: 1n,
        },
        refunds: [
          {
            chainId: origin.chain.name,
            recipient: refundTo,
            currency: originCurrency.address,
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
          minimumAmount,
          expectedAmount: trade.expected,
        },
      ],
      calls: [],
      deadline,
      extraData: fillContractOf(destination),
    },
    fees: [],
  };
  const terms: RequestTerms = {
    requestId: random.bytes32(),
    orderId: orderIdOf(order),
    kind: "bridge",
    tradeType: question.tradeType,
    user,
    recipient,
    refundTo,
    origin: { chainId: origin.chain.id, currency: originCurrency.address, amount: trade.input },
    destination: {
      chainId: destination.chain.id,
      currency: destinationCurrency.address,
      expectedAmount: trade.expected,
      minimumAmount,
    },
    inputUsd: amountToUsdDown(trade.input, pricing.facts.origin),
    ...(keyId !== undefined && { keyId }),
    ...(walletNonce !== undefined && { walletNonce }),
    explicitDeposit: question.explicitDeposit,
    createdAtMs: nowMs,
    firmUntilMs: Math.min(nowMs + quotePolicy.firmSeconds * 1000, fillDeadlineMs),
    fillDeadlineMs,
    referrer: question.referrer,
    forceRefund: question.referrer === FORCE_REFUND_REFERRER,
    order,
  };
  return { terms, refundMinimum, slippageBps };
}

function minRefund(
  policy: QuotePolicy,
  { from, originCurrency }: RailQuestion,
  pricing: RoutePricing,
  deposit: bigint,
  refundCost: bigint | undefined,
): bigint {
  const cost = from.refundCost(policy, originCurrency, refundCost);
  const deposited = pricing.facts.origin;
  const refund = refundAmount(deposit, cost, pricing.originNative, deposited);
  const rest = refund.kind === "refund" ? refund.amount - gasOfRevertedFills(pricing, deposited) : 0n;
  return rest > 0n ? rest : 0n;
}
