import type { AccountState } from "@causeway/chains";
import type { Currency, PricedUnit, QuoteStep, ChainFormat } from "@causeway/domain";
import {
  addressStep,
  amountToUsdDown,
  depositGas,
  depositSteps,
  feeSponsorshipText,
  formatAmount,
  formatUsd,
  toWrittenUsd,
  NATIVE_CURRENCY,
  orderToJson,
  pairClassOf,
  routedGas,
  routedSteps,
  sendGas,
  sendSteps,
  signatureGas,
  signatureSteps,
  slippageDetails,
  formatAddress,
  tradeImpact,
  tradeRate,
  payBy,
} from "@causeway/domain";
import type { AmountObject, QuoteAnswer, QuoteCurrency, QuoteDetails, QuoteFees } from "@causeway/wire";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import { signatureFacts } from "./permits/signature-facts.ts";
import { isSigned } from "./permits/typed-data.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import type { Agreement } from "./quote-terms.ts";
import type { ValuedRoute } from "./routing/choose-route.ts";
import { sidesOf } from "./routing/route-sides.ts";
import { routedFacts } from "./routing/routed-facts.ts";

export interface AnswerFacts extends ValuedRoute {
  readonly policy: Pick<QuotePolicy, "gas">;
  readonly question: QuoteQuestion;
  readonly agreement: Agreement;
  /** The user's balance of the input currency, and the allowance of the contract that pulls it. */
  readonly account: AccountState;
  readonly timeEstimateSeconds: number;
}

/** The wire form of a quote. */
export function toQuoteAnswer(facts: AnswerFacts): QuoteAnswer {
  const { question, agreement } = facts;
  const { terms } = agreement;
  const { steps, gasUnits } = stepsOf(facts);
  return {
    requestId: terms.requestId,
    steps,
    fees: feesOf(facts, gasUnits),
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
        orderData: orderToJson(terms.order),
        paymentDetails: {
          chainId: question.origin.chain.name,
          depository: question.origin.chain.contracts.depository,
          currency: terms.origin.currency,
          amount: terms.origin.amount.toString(),
        },
      },
    },
    ...(facts.route.kind === "bridge" && refundWarnings(agreement.refundMinimum)),
  };
}

/** Warns that no refund is guaranteed, which the 0 alone does not explain. */
export function refundWarnings(refundMinimum: bigint): Pick<QuoteAnswer, "warnings"> {
  if (refundMinimum > 0n) return {};
  const message =
    "At current fees, the gas of a refund may cost as much as the deposit is worth, so no refund amount is guaranteed.";
  return {
    warnings: [{ code: "NO_REFUND_MINIMUM", field: "details.refundCurrency.minimumAmount", message }],
  };
}

function stepsOf(facts: AnswerFacts): { readonly steps: QuoteStep[]; readonly gasUnits: bigint } {
  const { question, account, agreement, route } = facts;
  const { origin, originCurrency } = question;
  const { terms, promise } = agreement;
  const { steps: gas } = facts.policy.gas;
  const { maxFeePerGas, maxPriorityFeePerGas } = origin.pulse.gasPrices();
  const amount = promise.maxInput;
  const payment = {
    requestId: terms.requestId,
    chainId: origin.chain.id,
    user: terms.user,
    currency: originCurrency.address,
    symbol: originCurrency.symbol,
    amount,
    amountFormatted: formatAmount(amount, originCurrency.decimals),
    gas,
    tellsGas: !origin.chain.fees.gasCountsData,
    maxFeePerGas,
    maxPriorityFeePerGas,
  };
  if (terms.depositAddress !== undefined)
    return {
      steps: [addressStep(payment, terms.depositAddress.address)],
      gasUnits: originCurrency.address === NATIVE_CURRENCY ? gas.transferNative : gas.transferErc20,
    };
  if (route.kind === "send") {
    const { router } = origin.chain.contracts;
    const toContract = route.toContract === true;
    const sent = { ...payment, recipient: terms.recipient, toContract, router };
    return { steps: sendSteps(sent), gasUnits: sendGas(sent) };
  }
  const { allowance } = account;
  const { resetsApproval } = question.tokens ?? originCurrency;
  if (isSigned(terms)) {
    const signed = { ...payment, ...signatureFacts(terms, { allowance, resetsApproval }) };
    return { steps: signatureSteps(signed), gasUnits: signatureGas(signed) };
  }
  const { swapped } = sidesOf(route);
  if (swapped !== undefined) {
    const routed = routedFacts(facts, swapped);
    const routedPayment = { ...payment, ...routed, allowance, resetsApproval };
    return { steps: routedSteps(routedPayment), gasUnits: routedGas(routedPayment) };
  }
  const deposit = {
    ...payment,
    orderId: terms.orderId,
    depository: origin.chain.contracts.depository,
    explicitDeposit: terms.explicitDeposit,
    allowance,
    resetsApproval,
  };
  return { steps: depositSteps(deposit), gasUnits: depositGas(deposit) };
}

function feesOf({ question, route, values }: AnswerFacts, gasUnits: bigint): QuoteFees {
  const { origin } = question;
  const { priced } = route.trade;
  const { sponsored = 0n } = priced;
  const unit = values.deposited;
  const { baseFeePerGas, maxPriorityFeePerGas } = origin.pulse.gasPrices();
  const gasWei = gasUnits * (baseFeePerGas + maxPriorityFeePerGas);
  const currency = toWireCurrency(route.deposited);
  const inDeposit = (amount: bigint) => amountObject(currency, unit, amount, amount);
  const nothing = nothingOf(currency, unit);
  const written = (amount: bigint): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  return {
    gas: amountObject(toWireCurrency(origin.chain.native), values.originNative, gasWei, gasWei),
    relayer: {
      ...inDeposit(priced.execution + priced.service),
      // The sum of the two amounts as written: rounding it again could differ.
      ...(unit.priceUsd > 0n && {
        amountUsd: formatUsd(written(priced.execution) + written(priced.service)),
      }),
    },
    relayerGas: inDeposit(priced.execution),
    relayerService: inDeposit(priced.service),
    app: priced.app === 0n ? nothing : inDeposit(priced.app),
    subsidized: sponsored === 0n ? nothing : inDeposit(sponsored),
  };
}

function detailsOf(facts: AnswerFacts): QuoteDetails {
  const { question, route, values, agreement } = facts;
  const { terms, promise, refundMinimum } = agreement;
  const { trade } = route;
  const inputCurrency = toWireCurrency(question.originCurrency);
  const outputCurrency = toWireCurrency(question.destinationCurrency);
  const currencyIn = amountObject(inputCurrency, values.input, trade.input, trade.input);
  const currencyOut = amountObject(outputCurrency, values.output, trade.expected, promise.minimumAmount);
  const { deposit, paid, originRouter, originSources, destinationRouter, destinationSources } =
    sidesOf(route);
  const deposited =
    deposit === undefined
      ? currencyIn
      : amountObject(
          toWireCurrency(route.deposited),
          values.deposited,
          deposit,
          promise.minDeposit ?? deposit,
        );
  const paidOut =
    paid === undefined
      ? currencyOut
      : amountObject(toWireCurrency(route.paidFrom), paid.unit, paid.amount, paid.amount);
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
    sender: terms.user,
    recipient: terms.recipient,
    currencyIn,
    currencyOut,
    refundCurrency: { ...deposited, minimumAmount: refundMinimum.toString() },
    ...(topup !== undefined &&
      route.kind === "bridge" && {
        currencyGasTopup: amountObject(
          toWireCurrency(question.destination.chain.native),
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
    userBalance: facts.account.balance.toString(),
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
 * Origin: how much the deposit may fall short, or the input exceed the quote. Destination: the rest of the
 * slippage of the output.
 */
function slippageOf({ question, route, values, agreement }: AnswerFacts): QuoteDetails["slippageTolerance"] {
  const { promise } = agreement;
  const { trade } = route;
  const deposit = trade.priced.input;
  const isExact = question.tradeType === "EXACT_OUTPUT";
  const origin =
    route.kind === "swap"
      ? { missing: promise.maxInput - trade.input, of: trade.input, unit: values.input }
      : promise.minDeposit !== undefined
        ? { missing: deposit - promise.minDeposit, of: deposit, unit: values.deposited }
        : undefined;
  return slippageDetails(
    promise.slippageBps,
    {
      missing: isExact ? 0n : promise.neededOutput - promise.minimumAmount,
      of: trade.expected,
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

export function amountObject(
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
    // An unknown price does not mean a worthless currency.
    amountUsd: unit.priceUsd === 0n ? "0" : formatUsd(amountToUsdDown(amount, unit)),
    minimumAmount: minimum === amount ? digits : minimum.toString(),
  };
}

/** A zero amount is worth nothing at any price, and every quote has two of them. */
const nothings = new WeakMap<QuoteCurrency, AmountObject>();

export function nothingOf(currency: QuoteCurrency, unit: PricedUnit): AmountObject {
  let nothing = nothings.get(currency);
  if (nothing === undefined) {
    nothing = amountObject(currency, unit, 0n, 0n);
    nothings.set(currency, nothing);
  }
  return nothing;
}

/** Wire forms of currencies. Configured currencies appear in every quote, so each is converted once. */
const wireCurrencies = new WeakMap<Currency, QuoteCurrency>();
const ON_EVM: ChainFormat = { vmType: "evm" };

export function toWireCurrency(currency: Currency, chain: ChainFormat = ON_EVM): QuoteCurrency {
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
