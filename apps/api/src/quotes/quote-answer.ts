import {
  amountToUsdDown,
  feeSponsorshipText,
  formatAmount,
  formatUsd,
  NATIVE_CURRENCY,
  pairClassOf,
  payBy,
  slippageDetails,
  toWrittenUsd,
  tradeImpact,
  tradeRate,
  type Currency,
  type PricedUnit,
  type VmType,
} from "@causeway/domain";
import { familyOf, formatAddress, formatOrder, type ChainFormat } from "@causeway/families";
import type { AmountObject, QuoteAnswer, QuoteCurrency, QuoteDetails, QuoteFees } from "@causeway/wire";
import type { QuoteQuestion } from "./quote-question.ts";
import type { Agreement } from "./quote-terms.ts";
import type { ValuedRoute } from "./routing/choose-route.ts";
import { sidesOf } from "./routing/route-sides.ts";
import type { UserSteps } from "./sides/side.ts";

export interface AnswerFacts extends ValuedRoute {
  readonly question: QuoteQuestion;
  readonly agreement: Agreement;
  readonly userSteps: UserSteps;
  readonly timeEstimateSeconds: number;
}

/** The wire form of a quote. Addresses are in the format of their chain. */
export function toQuoteAnswer(facts: AnswerFacts): QuoteAnswer {
  const { question, agreement, userSteps } = facts;
  const { origin, from } = question;
  const { terms } = agreement;
  return {
    requestId: terms.requestId,
    steps: userSteps.steps,
    fees: feesOf(facts),
    ...(terms.sponsorship !== undefined && {
      feeSponsorship: { quoted: feeSponsorshipText(terms.sponsorship) },
    }),
    details: detailsOf(facts),
    expiresAt: terms.firmUntilMs,
    fillDeadline: payBy(terms),
    protocol: {
      v2: {
        orderId: terms.orderId,
        hubType: "onchain",
        orderData: formatOrder(terms.order, familiesOf(question)),
        paymentDetails: {
          chainId: origin.chain.name,
          depository: formatAddress(origin.chain, from.depository),
          currency: formatAddress(origin.chain, terms.origin.currency),
          amount: terms.origin.amount.toString(),
        },
      },
    },
    ...(facts.route.kind === "bridge" && refundWarnings(agreement.refundMinimum)),
  };
}

function familiesOf({ origin, destination }: QuoteQuestion): (name: string) => VmType {
  return (name) => {
    const end = [origin, destination].find(({ chain }) => chain.name === name);
    if (end === undefined)
      throw new Error(`invariant violated: order on ${name}, which is not a chain of its route`);
    return familyOf(end.chain);
  };
}

/** Warns that no refund is guaranteed: clients may not understand a minimum of 0. */
function refundWarnings(refundMinimum: bigint): Pick<QuoteAnswer, "warnings"> {
  if (refundMinimum > 0n) return {};
  const message =
    "At current fees, the gas of a refund may cost as much as the deposit is worth, so no refund amount is guaranteed.";
  return {
    warnings: [{ code: "NO_REFUND_MINIMUM", field: "details.refundCurrency.minimumAmount", message }],
  };
}

function feesOf({ question, route, values, userSteps }: AnswerFacts): QuoteFees {
  const { origin } = question;
  const { priced } = route.trade;
  const { sponsored = 0n } = priced;
  const unit = values.deposited;
  const currency = toWireCurrency(route.deposited, origin.chain);
  const inDeposit = (amount: bigint) => amountObject(currency, unit, amount, amount);
  const zeroAmount = zeroAmountOf(currency, unit);
  const writtenUsd = (amount: bigint): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  return {
    gas: amountObject(
      toWireCurrency(origin.chain.native, origin.chain),
      values.originNative,
      userSteps.gas,
      userSteps.gas,
    ),
    relayer: {
      ...inDeposit(priced.execution + priced.service),
      // Adds the two rounded amounts, so that the sum matches what the client sees.
      ...(unit.priceUsd > 0n && {
        amountUsd: formatUsd(writtenUsd(priced.execution) + writtenUsd(priced.service)),
      }),
    },
    relayerGas: inDeposit(priced.execution),
    relayerService: inDeposit(priced.service),
    app: priced.app === 0n ? zeroAmount : inDeposit(priced.app),
    subsidized: sponsored === 0n ? zeroAmount : inDeposit(sponsored),
  };
}

function detailsOf(facts: AnswerFacts): QuoteDetails {
  const { question, route, values, agreement } = facts;
  const { terms, guarantee, refundMinimum } = agreement;
  const { chain: originChain } = question.origin;
  const { chain: destinationChain } = question.destination;
  const { trade } = route;
  const inputCurrency = toWireCurrency(question.originCurrency, originChain);
  const outputCurrency = toWireCurrency(question.destinationCurrency, destinationChain);
  const currencyIn = amountObject(inputCurrency, values.input, trade.input, trade.input);
  const currencyOut = amountObject(outputCurrency, values.output, trade.expected, guarantee.minimumAmount);
  const { deposit, paid, originRouter, originSources, destinationRouter, destinationSources } =
    sidesOf(route);
  const deposited =
    deposit === undefined
      ? currencyIn
      : amountObject(
          toWireCurrency(route.deposited, originChain),
          values.deposited,
          deposit,
          guarantee.minDeposit ?? deposit,
        );
  const paidOut =
    paid === undefined
      ? currencyOut
      : amountObject(toWireCurrency(route.paidFrom, destinationChain), paid.unit, paid.amount, paid.amount);
  const { priced } = trade;
  const topup = terms.gasTopup && route.kind === "bridge" ? terms.gasTopup.amount : undefined;
  const hasSwap =
    originSources !== undefined ||
    destinationSources !== undefined ||
    pairClassOf(question.originCurrency, question.destinationCurrency) !== "sameAsset";
  const impact = tradeImpact(
    {
      input: trade.input,
      execution: priced.execution,
      service: priced.service,
      app: priced.app,
      sponsored: priced.sponsored,
      topup: priced.topup,
      hasSwap,
      expected: trade.expected,
    },
    values.input,
    values.output,
    values.deposited,
  );
  return {
    operation: operationOf(facts),
    sender: formatAddress(originChain, terms.user),
    recipient: formatAddress(destinationChain, terms.recipient),
    currencyIn,
    currencyOut,
    refundCurrency: { ...deposited, minimumAmount: refundMinimum.toString() },
    ...(topup !== undefined &&
      route.kind === "bridge" && {
        currencyGasTopup: amountObject(
          toWireCurrency(destinationChain.native, destinationChain),
          route.pricing.facts.destinationNative,
          topup,
          topup,
        ),
      }),
    totalImpact: impact.totalImpact,
    swapImpact: impact.swapImpact,
    expandedPriceImpact: impact.expandedPriceImpact,
    rate: tradeRate(
      trade.input,
      question.originCurrency.decimals,
      trade.expected,
      question.destinationCurrency.decimals,
    ),
    slippageTolerance: slippageOf(facts),
    timeEstimate: facts.timeEstimateSeconds,
    userBalance: facts.userSteps.balance.toString(),
    isFixedRate: terms.sponsorship?.fixedRate !== undefined,
    ...(terms.sponsorship?.fixedRate !== undefined && {
      fixedRateFee: { usd: formatUsd(terms.sponsorship.usd) },
    }),
    route: {
      origin: {
        inputCurrency: currencyIn,
        outputCurrency: route.kind === "swap" ? currencyOut : deposited,
        router: originRouter,
        ...(originSources !== undefined && { includedSwapSources: originSources }),
      },
      destination: {
        inputCurrency: paidOut,
        outputCurrency: currencyOut,
        router: destinationRouter,
        ...(destinationSources !== undefined && { includedSwapSources: destinationSources }),
      },
    },
  };
}

/**
 * Origin: by how much the deposit may be too small, or the input may exceed the quote. Destination: the
 * remaining slippage of the output.
 */
function slippageOf({ question, route, values, agreement }: AnswerFacts): QuoteDetails["slippageTolerance"] {
  const { guarantee } = agreement;
  const { trade } = route;
  const deposit = trade.priced.input;
  const isExact = question.tradeType === "EXACT_OUTPUT";
  const origin =
    route.kind === "swap"
      ? { missing: guarantee.maxInput - trade.input, total: trade.input, unit: values.input }
      : guarantee.minDeposit !== undefined
        ? { missing: deposit - guarantee.minDeposit, total: deposit, unit: values.deposited }
        : undefined;
  return slippageDetails(
    guarantee.slippageBps,
    {
      missing: isExact ? 0n : guarantee.neededOutput - guarantee.minimumAmount,
      total: trade.expected,
      unit: values.output,
    },
    origin,
  );
}

function operationOf({ question, route }: AnswerFacts): QuoteDetails["operation"] {
  if (route.kind === "send") return "send";
  const { originCurrency, destinationCurrency, origin, destination } = question;
  const pair = pairClassOf(originCurrency, destinationCurrency);
  if (pair === "sameAsset") return "bridge";
  const isOneForOne = route.kind === "swap" ? route.trade.origin?.pool === undefined : pair === "wrap";
  if (origin === destination && isOneForOne) {
    if (originCurrency.address === NATIVE_CURRENCY) return "wrap";
    if (destinationCurrency.address === NATIVE_CURRENCY) return "unwrap";
  }
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
    // A price of 0 means unknown, not worthless.
    amountUsd: unit.priceUsd === 0n ? "0" : formatUsd(amountToUsdDown(amount, unit)),
    minimumAmount: minimum === amount ? digits : minimum.toString(),
  };
}

/** Cached zero amounts: they do not depend on the price, and every quote has two of them. */
const zeroAmounts = new WeakMap<QuoteCurrency, AmountObject>();

function zeroAmountOf(currency: QuoteCurrency, unit: PricedUnit): AmountObject {
  let zeroAmount = zeroAmounts.get(currency);
  if (zeroAmount === undefined) {
    zeroAmount = amountObject(currency, unit, 0n, 0n);
    zeroAmounts.set(currency, zeroAmount);
  }
  return zeroAmount;
}

/** Wire forms of currencies. Configured currencies appear in every quote, so each is converted once. */
const wireCurrencies = new WeakMap<Currency, QuoteCurrency>();

function toWireCurrency(currency: Currency, chain: ChainFormat): QuoteCurrency {
  let wire = wireCurrencies.get(currency);
  if (wire === undefined) {
    wire = {
      id: currency.id,
      chainId: currency.chainId,
      address: formatAddress(chain, currency.address),
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
