import type { PricedTrade, RequestTerms } from "@causeway/domain";
import { NATIVE_CURRENCY, priceTrade } from "@causeway/domain";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { PriceBook } from "../../markets/prices/price-source.port.ts";
import type { Clock } from "../../db/clock.port.ts";
import type { QuotedRequests } from "../../deposits/addresses/quoted-requests.port.ts";
import type { RecipientCodes } from "../../chains/recipient-codes.port.ts";
import type { Reservations, RouteTimings } from "../../markets/quote.port.ts";
import { type OrderSigners, signedOrder } from "../../chains/index.ts";
import { pricingOf, type RoutePricing } from "../../markets/index.ts";
import { withQuoted } from "../with-quoted.ts";
import { quotedCostOfPaying } from "../../payments/index.ts";
import { toRailAnswer } from "./quote-answer.ts";
import { refuseBeyondRails, refuseUnpayable } from "./quote-limits.ts";
import { readRailQuestion } from "./quote-question.ts";
import type { RailQuestion } from "./quote-question.ts";
import { refuseOnRails } from "./quote-refusals.ts";
import { agreeOnRail } from "./quote-terms.ts";
import type { RailAgreement, RailTermServices } from "./quote-terms.ts";
import type { WalletNonces } from "../../deposits/index.ts";
import { depositsNotEnabled } from "../../http/refusals.ts";

/** What agreeing on terms with a non-EVM chain needs. */
export interface NonEvmAgreeServices extends RailTermServices {
  readonly clock: Clock;
  readonly chains: ChainDirectory;
  readonly prices: PriceBook;
  readonly reservations: Reservations;
  readonly recipientCodes: RecipientCodes;
  /** Undefined: deposits from Hyperliquid are not enabled. */
  readonly walletNonces?: WalletNonces | undefined;
}

/** What pricing a quote with a non-EVM chain needs. */
export interface NonEvmPriceServices extends NonEvmAgreeServices {
  readonly timings: RouteTimings;
}

/** What a quote with a non-EVM chain needs. */
export interface NonEvmQuoteServices extends NonEvmPriceServices, OrderSigners {
  readonly requests: QuotedRequests;
}

/** Whether one of the two chains is a non-EVM chain. */
export function goesByRail(
  { rails, rail }: Pick<ChainDirectory, "rails" | "rail">,
  { originChainId, destinationChainId }: Pick<QuoteInput, "originChainId" | "destinationChainId">,
): boolean {
  return rails.length > 0 && (rail(originChainId) ?? rail(destinationChainId)) !== undefined;
}

/**
 * Prices a deposit and a payment of which at least one is on a non-EVM chain, stores the terms and returns
 * the steps.
 * @throws ServiceError with the codes of the public contract
 */
export async function quoteNonEvm(
  services: NonEvmQuoteServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<QuoteAnswer> {
  const { answer, terms } = await priceNonEvm(services, input, keyId);
  await services.requests.insertQuoted(terms);
  if (input.includeProtocolData !== true) return answer;
  const signed = await signedOrder(services, terms.orderId);
  return { ...answer, protocol: { v2: { ...answer.protocol.v2, ...signed } } };
}

/** The answer of {@link quoteNonEvm} without signatures; nothing is stored. @throws ServiceError likewise */
export async function priceNonEvm(
  services: NonEvmPriceServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<{ readonly answer: QuoteAnswer; readonly terms: RequestTerms }> {
  const { question, pricing, trade, agreement } = await workOut(services, input, keyId);
  const { terms } = agreement;
  const [made] = await Promise.all([
    question.from.steps(services.quotePolicy, question, terms),
    refuseUnpayable(question, trade.expected),
  ]);
  const timeEstimateSeconds = services.timings.estimateSeconds(
    question.origin.chain.id,
    question.destination.chain.id,
    question.from.confirmations(terms.inputUsd),
  );
  const answer = toRailAnswer({ question, pricing, trade, agreement, made, timeEstimateSeconds });
  return { answer, terms: withQuoted(terms, answer) };
}

/** The terms that a quote would fix now; stores nothing. @throws ServiceError as {@link quoteNonEvm} */
export async function agreeNonEvm(
  services: NonEvmAgreeServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<RequestTerms> {
  return (await workOut(services, input, keyId)).agreement.terms;
}

interface Worked {
  readonly question: RailQuestion;
  readonly pricing: RoutePricing;
  readonly trade: PricedTrade;
  readonly agreement: RailAgreement;
}

async function workOut(
  services: NonEvmAgreeServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<Worked> {
  refuseOnRails(input);
  const question = readRailQuestion(services, input);
  const { origin, originCurrency, refundTo, destination, to, destinationCurrency, recipient } = question;
  const toContract =
    to.runsRecipientCode && destinationCurrency.address === NATIVE_CURRENCY
      ? await services.recipientCodes.hasCode(destination.chain.id, recipient)
      : false;
  const [railCost, refundCost] = await Promise.all([
    quotedCostOfPaying(destination, destinationCurrency.address, recipient, "destinationChainId"),
    quotedCostOfPaying(origin, originCurrency.address, refundTo, "originChainId"),
  ]);
  const pricing = await pricingOf(services, question, toContract, undefined, { railCost });
  const trade = priceTrade(question.tradeType, question.amount, pricing.facts, originCurrency.symbol);
  refuseBeyondRails(services.reservations, question, pricing, trade);
  const agreement = agreeOnRail(
    services,
    question,
    { pricing, trade },
    { nowMs: services.clock.nowMs(), walletNonce: nonceOf(services, question), keyId, refundCost },
  );
  return { question, pricing, trade, agreement };
}

/** A transfer on Hyperliquid carries no other id. */
function nonceOf(
  { walletNonces, random, clock }: Pick<NonEvmAgreeServices, "walletNonces" | "random" | "clock">,
  { origin, from }: RailQuestion,
): number | undefined {
  if (!from.needsWalletNonce) return undefined;
  if (walletNonces === undefined) throw depositsNotEnabled(origin.chain);
  const chance = Number.parseInt(random.bytes32().slice(2, 10), 16) / 2 ** 32;
  return walletNonces.next(clock.nowMs(), chance);
}
