import type { Address, Chain, Hex, Order, PricedTrade, RequestTerms } from "@causeway/domain";
import {
  amountToUsdDown,
  encodeFillContract,
  gasCostWei,
  minimumOutput,
  orderIdOf,
  refundAmount,
} from "@causeway/domain";
import type { Random, QuotePolicy } from "../ports/quote.ts";
import type { RoutePricing } from "./quote-pricing.ts";
import { gasOf } from "./quote-pricing.ts";
import type { QuoteQuestion } from "./quote-question.ts";

/** A client that names this as referrer wants to see a refund happen. */
const FORCE_REFUND_REFERRER = "debug-force-refund";

export interface Agreement {
  readonly terms: RequestTerms;
  /** What the promise allows the output to fall short, bps; 0 for an exact output. */
  readonly slippageBps: number;
  /** The least that comes back if the request is refunded, at today's gas with the policy's margin; smallest units of the input. */
  readonly refundMinimum: bigint;
}

/**
 * Writes down what the quote promises, as terms and as the order whose hash is the id of the deposit.
 * @param originGasUsd what the output pays for the service sending the origin transaction, USD with 18 decimals; undefined: the user sends it
 * @param keyId of the API key that asked; undefined: nobody's
 */
export function agree(
  services: { readonly random: Random; readonly quotePolicy: QuotePolicy; readonly solver: Address },
  question: QuoteQuestion,
  pricing: RoutePricing,
  trade: PricedTrade,
  nowMs: number,
  {
    originGasUsd,
    keyId,
  }: { readonly originGasUsd?: bigint | undefined; readonly keyId?: string | undefined } = {},
): Agreement {
  const { quotePolicy } = services;
  const { origin, destination, originCurrency, destinationCurrency, user, recipient, refundTo } = question;
  const isSend = question.kind === "send";
  const slippageBps =
    isSend || question.tradeType === "EXACT_OUTPUT"
      ? 0
      : (question.slippageBps ?? quotePolicy.automaticSlippageBps[pricing.pairClass]);
  const minimumAmount = minimumOutput(question.tradeType, trade.expected, slippageBps);
  const refundMinimum = leastRefund(quotePolicy, question, pricing, trade.input);

  const lifetimeSeconds = question.ttlSeconds ?? quotePolicy.orderLifetimeSeconds;
  const fillDeadlineMs = nowMs + lifetimeSeconds * 1000;
  // The order outlives the last moment of a fill: one that is mined after the order's deadline is not attested, and not paid for.
  const deadline = Math.ceil(fillDeadlineMs / 1000) + quotePolicy.fillGraceSeconds;

  const order: Order = {
    version: "v1",
    solverChainId: quotePolicy.solverChainName,
    solver: services.solver,
    salt: services.random.bytes32(),
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
            extraData: fillContractOf(origin.chain),
          },
        ],
      },
    ],
    output: {
      chainId: destination.chain.name,
      payments: [
        { recipient, currency: destinationCurrency.address, minimumAmount, expectedAmount: trade.expected },
      ],
      calls: [],
      deadline,
      extraData: fillContractOf(destination.chain),
    },
    fees: [],
  };

  const terms: RequestTerms = {
    requestId: services.random.bytes32(),
    orderId: orderIdOf(order),
    kind: question.kind,
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
    ...(originGasUsd !== undefined && { originGasUsd }),
    ...(keyId !== undefined && { keyId }),
    explicitDeposit: question.explicitDeposit,
    createdAtMs: nowMs,
    firmUntilMs: Math.min(nowMs + quotePolicy.firmSeconds * 1000, fillDeadlineMs),
    fillDeadlineMs,
    referrer: question.referrer,
    forceRefund: question.referrer === FORCE_REFUND_REFERRER,
    order,
  };
  return { terms, slippageBps, refundMinimum };
}

/** Every order names the same few contracts, and a text that was hashed before is found again at once when it is the same object. */
const fillContracts = new WeakMap<Chain, Hex>();

function fillContractOf(chain: Chain): Hex {
  let encoded = fillContracts.get(chain);
  if (encoded === undefined) {
    encoded = encodeFillContract(chain.contracts.router);
    fillContracts.set(chain, encoded);
  }
  return encoded;
}

function leastRefund(
  policy: QuotePolicy,
  question: QuoteQuestion,
  pricing: RoutePricing,
  input: bigint,
): bigint {
  const { origin, originCurrency } = question;
  const cost = gasCostWei(
    gasOf(policy.gas.refund, originCurrency, false),
    origin.pulse.gasPrices(),
    origin.chain.fees.minPriorityFeeWei,
    policy.refundGasMarginBps,
  );
  const refund = refundAmount(input, cost, pricing.originNative, pricing.facts.origin);
  return refund.kind === "refund" ? refund.amount : 0n;
}
