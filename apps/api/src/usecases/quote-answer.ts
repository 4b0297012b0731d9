import type { AccountState } from "@causeway/chains";
import type { Currency, PricedTrade, PricedUnit, QuoteStep } from "@causeway/domain";
import {
  amountToUsdDown,
  depositGas,
  depositSteps,
  formatAmount,
  formatUsd,
  toWrittenUsd,
  NATIVE_CURRENCY,
  orderToJson,
  sendSteps,
  slippageDetails,
  tradeImpact,
  tradeRate,
} from "@causeway/domain";
import type { AmountObject, QuoteAnswer, QuoteCurrency, QuoteDetails, QuoteFees } from "@causeway/wire";
import type { QuotePolicy } from "../ports/quote.ts";
import type { RoutePricing } from "./quote-pricing.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import type { Agreement } from "./quote-terms.ts";

/** Everything an answer tells. */
export interface AnswerFacts {
  readonly policy: Pick<QuotePolicy, "gas">;
  readonly question: QuoteQuestion;
  readonly pricing: RoutePricing;
  readonly trade: PricedTrade;
  readonly agreement: Agreement;
  readonly account: AccountState;
  readonly timeEstimateSeconds: number;
}

/** The quote in the words of the wire. */
export function toQuoteAnswer(told: AnswerFacts): QuoteAnswer {
  const { question, agreement } = told;
  const { terms } = agreement;
  const { steps, gasUnits } = stepsOf(told);
  return {
    requestId: terms.requestId,
    steps,
    fees: feesOf(told, gasUnits),
    details: detailsOf(told),
    expiresAt: terms.firmUntilMs,
    fillDeadline: terms.fillDeadlineMs,
    protocol: {
      v2: {
        orderId: terms.orderId,
        hubType: "onchain",
        orderData: orderToJson(terms.order),
        paymentDetails: {
          chainId: question.origin.chain.name,
          depository: question.origin.chain.contracts.depository,
          currency: terms.origin.currency,
          amount: terms.origin.amount.toString(),
        },
      },
    },
  };
}

function stepsOf(told: AnswerFacts): { readonly steps: QuoteStep[]; readonly gasUnits: bigint } {
  const { question, account, agreement } = told;
  const { origin, originCurrency } = question;
  const { terms } = agreement;
  const { steps: gas } = told.policy.gas;
  const { maxFeePerGas, maxPriorityFeePerGas } = origin.pulse.gasPrices();
  const payment = {
    requestId: terms.requestId,
    chainId: origin.chain.id,
    user: terms.user,
    currency: terms.origin.currency,
    symbol: originCurrency.symbol,
    amount: terms.origin.amount,
    amountFormatted: formatAmount(terms.origin.amount, originCurrency.decimals),
    gas,
    tellsGas: !origin.chain.fees.gasCountsData,
    maxFeePerGas,
    maxPriorityFeePerGas,
  };
  if (terms.kind === "send")
    return {
      steps: sendSteps({ ...payment, recipient: terms.recipient }),
      gasUnits: originCurrency.address === NATIVE_CURRENCY ? gas.transferNative : gas.transferErc20,
    };
  const deposit = {
    ...payment,
    orderId: terms.orderId,
    depository: origin.chain.contracts.depository,
    explicitDeposit: terms.explicitDeposit,
    allowance: account.allowance,
    resetsApproval: originCurrency.resetsApproval,
  };
  return { steps: depositSteps(deposit), gasUnits: depositGas(deposit) };
}

function feesOf({ question, pricing, trade }: AnswerFacts, gasUnits: bigint): QuoteFees {
  const { origin } = question;
  const { baseFeePerGas, maxPriorityFeePerGas } = origin.pulse.gasPrices();
  const gasWei = gasUnits * (baseFeePerGas + maxPriorityFeePerGas);
  const currency = toWireCurrency(question.originCurrency);
  const inInput = (amount: bigint) => amountObject(currency, pricing.facts.origin, amount, amount);
  const nothing = nothingOf(currency, pricing.facts.origin);
  const written = (amount: bigint): bigint => toWrittenUsd(amountToUsdDown(amount, pricing.facts.origin));
  return {
    gas: amountObject(toWireCurrency(origin.chain.native), pricing.originNative, gasWei, gasWei),
    relayer: {
      ...inInput(trade.execution + trade.service),
      // The sum of its two parts as they are written, not a third cut of its own.
      amountUsd: formatUsd(written(trade.execution) + written(trade.service)),
    },
    relayerGas: inInput(trade.execution),
    relayerService: inInput(trade.service),
    app: trade.app === 0n ? nothing : inInput(trade.app),
    subsidized: nothing,
  };
}

function detailsOf(told: AnswerFacts): QuoteDetails {
  const { question, pricing, trade, agreement } = told;
  const { terms } = agreement;
  const { origin, destination } = pricing.facts;
  const inputCurrency = toWireCurrency(question.originCurrency);
  const outputCurrency = toWireCurrency(question.destinationCurrency);
  const currencyIn = amountObject(inputCurrency, origin, trade.input, trade.input);
  const currencyOut = amountObject(
    outputCurrency,
    destination,
    trade.expected,
    terms.destination.minimumAmount,
  );
  const impact = tradeImpact(trade, origin, destination);
  const isSend = terms.kind === "send";
  return {
    operation: operationOf(told),
    sender: terms.user,
    recipient: terms.recipient,
    currencyIn,
    currencyOut,
    refundCurrency: { ...currencyIn, minimumAmount: agreement.refundMinimum.toString() },
    totalImpact: impact.totalImpact,
    swapImpact: impact.swapImpact,
    expandedPriceImpact: impact.expandedPriceImpact,
    rate: tradeRate(trade.input, origin.decimals, trade.expected, destination.decimals),
    slippageTolerance: slippageDetails(
      agreement.slippageBps,
      {
        missing: trade.expected - terms.destination.minimumAmount,
        of: trade.expected,
        unit: destination,
      },
      undefined,
    ),
    timeEstimate: told.timeEstimateSeconds,
    userBalance: told.account.balance.toString(),
    isFixedRate: false,
    route: {
      origin: {
        inputCurrency: currencyIn,
        outputCurrency: currencyIn,
        router: isSend ? "direct" : "depository",
      },
      destination: {
        inputCurrency: currencyOut,
        outputCurrency: currencyOut,
        router: isSend ? "direct" : "solver",
      },
    },
  };
}

function operationOf({ question, pricing }: AnswerFacts): QuoteDetails["operation"] {
  if (question.kind === "send") return "send";
  if (pricing.pairClass === "sameAsset") return "bridge";
  if (pricing.pairClass === "wrap" && question.origin === question.destination)
    return question.originCurrency.address === NATIVE_CURRENCY
      ? "wrap"
      : question.destinationCurrency.address === NATIVE_CURRENCY
        ? "unwrap"
        : "swap";
  return "swap";
}

function amountObject(
  currency: QuoteCurrency,
  unit: PricedUnit,
  amount: bigint,
  minimum: bigint,
): AmountObject {
  const digits = amount.toString();
  return {
    currency,
    amount: digits,
    amountFormatted: formatAmount(amount, unit.decimals),
    amountUsd: formatUsd(amountToUsdDown(amount, unit)),
    minimumAmount: minimum === amount ? digits : minimum.toString(),
  };
}

/** An amount of nothing is worth nothing at any price, and every quote tells two of them. */
const nothings = new WeakMap<QuoteCurrency, AmountObject>();

function nothingOf(currency: QuoteCurrency, unit: PricedUnit): AmountObject {
  let nothing = nothings.get(currency);
  if (nothing === undefined) {
    nothing = amountObject(currency, unit, 0n, 0n);
    nothings.set(currency, nothing);
  }
  return nothing;
}

/** Currencies in the words of the wire. Those of the configuration come back in every quote, so each is put into words once. */
const wireCurrencies = new WeakMap<Currency, QuoteCurrency>();

function toWireCurrency(currency: Currency): QuoteCurrency {
  let wire = wireCurrencies.get(currency);
  if (wire === undefined) {
    wire = {
      id: currency.id,
      chainId: currency.chainId,
      address: currency.address,
      symbol: currency.symbol,
      name: currency.name,
      decimals: currency.decimals,
      supportsBridging: currency.supportsBridging,
      metadata: { logoURI: currency.logoUri ?? "", verified: currency.verified },
    };
    wireCurrencies.set(currency, wire);
  }
  return wire;
}
