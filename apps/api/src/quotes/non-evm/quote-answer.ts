import type { PricedTrade } from "@causeway/domain";
import {
  amountToUsdDown,
  familyOf,
  formatUsd,
  pairClassOf,
  ServiceError,
  slippageDetails,
  formatAddress,
  formatOrder,
  toWrittenUsd,
  tradeImpact,
  tradeRate,
} from "@causeway/domain";
import type { QuoteAnswer, QuoteDetails, QuoteFees } from "@causeway/wire";
import { amountObject, nothingOf, refundWarnings, toWireCurrency } from "../quote-answer.ts";
import type { RoutePricing } from "../../markets/index.ts";
import type { RailQuestion } from "./quote-question.ts";
import type { RailSteps } from "./quote-steps.ts";
import type { RailAgreement } from "./quote-terms.ts";

export interface RailAnswerFacts {
  readonly question: RailQuestion;
  readonly pricing: RoutePricing;
  readonly trade: PricedTrade;
  readonly agreement: RailAgreement;
  readonly made: RailSteps;
  readonly timeEstimateSeconds: number;
}

/** The wire form of a quote from or to a non-EVM chain. Addresses are in the format of their chain. */
export function toRailAnswer(facts: RailAnswerFacts): QuoteAnswer {
  const { question, agreement, made } = facts;
  const { origin, destination } = question;
  const { terms } = agreement;
  const families = new Map([origin, destination].map(({ chain }) => [chain.name, familyOf(chain)]));
  return {
    requestId: terms.requestId,
    steps: made.steps,
    fees: feesOf(facts),
    details: detailsOf(facts),
    expiresAt: terms.firmUntilMs,
    fillDeadline: terms.fillDeadlineMs,
    protocol: {
      v2: {
        orderId: terms.orderId,
        hubType: "onchain",
        orderData: formatOrder(terms.order, (name) => {
          const family = families.get(name);
          if (family === undefined)
            throw new ServiceError("UNSUPPORTED_CHAIN", `Chain ${name} is not configured`);
          return family;
        }),
        paymentDetails: {
          chainId: origin.chain.name,
          depository: formatAddress(origin.chain, question.from.depository),
          currency: formatAddress(origin.chain, terms.origin.currency),
          amount: terms.origin.amount.toString(),
        },
      },
    },
    ...refundWarnings(agreement.refundMinimum),
  };
}

function feesOf({ question, pricing, trade, made }: RailAnswerFacts): QuoteFees {
  const { origin, originCurrency } = question;
  const unit = pricing.facts.origin;
  const currency = toWireCurrency(originCurrency, origin.chain);
  const inDeposit = (amount: bigint) => amountObject(currency, unit, amount, amount);
  const nothing = nothingOf(currency, unit);
  const written = (amount: bigint): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  const native = toWireCurrency(origin.chain.native, origin.chain);
  return {
    gas: amountObject(native, pricing.originNative, made.gas, made.gas),
    relayer: {
      ...inDeposit(trade.execution + trade.service),
      // The sum of the two amounts as written: rounding it again could differ.
      amountUsd: formatUsd(written(trade.execution) + written(trade.service)),
    },
    relayerGas: inDeposit(trade.execution),
    relayerService: inDeposit(trade.service),
    app: nothing,
    subsidized: nothing,
  };
}

function detailsOf({
  question,
  pricing,
  trade,
  agreement,
  made,
  timeEstimateSeconds,
}: RailAnswerFacts): QuoteDetails {
  const { origin, destination, originCurrency, destinationCurrency } = question;
  const { facts } = pricing;
  const { terms, refundMinimum, slippageBps } = agreement;
  const { minimumAmount } = terms.destination;
  const currencyIn = amountObject(
    toWireCurrency(originCurrency, origin.chain),
    facts.origin,
    trade.input,
    trade.input,
  );
  const currencyOut = amountObject(
    toWireCurrency(destinationCurrency, destination.chain),
    facts.destination,
    trade.expected,
    minimumAmount,
  );
  const impact = tradeImpact(
    {
      input: trade.input,
      execution: trade.execution,
      service: trade.service,
      app: trade.app,
      sponsored: undefined,
      topup: undefined,
      hasSwap: pairClassOf(originCurrency, destinationCurrency) !== "sameAsset",
      expected: trade.expected,
    },
    facts.origin,
    facts.destination,
  );
  return {
    operation: pairClassOf(originCurrency, destinationCurrency) === "sameAsset" ? "bridge" : "swap",
    sender: formatAddress(origin.chain, terms.user),
    recipient: formatAddress(destination.chain, terms.recipient),
    currencyIn,
    currencyOut,
    refundCurrency: { ...currencyIn, minimumAmount: refundMinimum.toString() },
    ...impact,
    rate: tradeRate(trade.input, originCurrency.decimals, trade.expected, destinationCurrency.decimals),
    slippageTolerance: slippageDetails(
      slippageBps,
      { missing: trade.expected - minimumAmount, of: trade.expected, unit: facts.destination },
      undefined,
    ),
    timeEstimate: timeEstimateSeconds,
    userBalance: made.balance.toString(),
    isFixedRate: false,
    route: {
      origin: { inputCurrency: currencyIn, outputCurrency: currencyIn, router: "depository" },
      destination: { inputCurrency: currencyOut, outputCurrency: currencyOut, router: "solver" },
    },
  };
}
