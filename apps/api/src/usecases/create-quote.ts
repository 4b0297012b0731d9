import type { AccountState } from "@causeway/chains";
import type { Address, Hex, OrderId, PricedTrade } from "@causeway/domain";
import { confirmationsFor, NATIVE_CURRENCY, priceTrade, ServiceError } from "@causeway/domain";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import type { ChainDirectory } from "../ports/chains.ts";
import type { Clock } from "../ports/clock.ts";
import type { PriceBook } from "../ports/price-source.ts";
import type {
  QuotedRequests,
  QuotePolicy,
  Random,
  Reservations,
  RecipientCodes,
  RouteTimings,
} from "../ports/quote.ts";
import { toQuoteAnswer } from "./quote-answer.ts";
import { refuseBeyondCap, refuseBeyondLimits } from "./quote-limits.ts";
import { originGasOf } from "./origin-gas.ts";
import { pricingOf } from "./quote-pricing.ts";
import type { RoutePricing } from "./quote-pricing.ts";
import { readQuestion } from "./quote-question.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import { refuseUnsupported } from "./quote-refusals.ts";
import { agree } from "./quote-terms.ts";

/** What a quote needs. `solver` is the address that signs orders and pays. */
export interface QuoteServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: ChainDirectory;
  readonly prices: PriceBook;
  readonly quotePolicy: QuotePolicy;
  readonly requests: QuotedRequests;
  readonly reservations: Reservations;
  readonly timings: RouteTimings;
  readonly recipientCodes: RecipientCodes;
  readonly solver: Address;
  /** The solver's personal signature (EIP-191) over the raw bytes of an order id. */
  signOrder(orderId: OrderId): Promise<Hex>;
}

/**
 * Prices an intent, promises an output, stores the promise and tells the steps. The user need not hold the funds. With fresh prices and heads
 * only the user's balance and allowance are read from a chain (all users of one moment in one call), and only the promise is written.
 * @param keyId of the API key that asks, if one does: it alone may have a fast fill made for less than the quoted input
 * @throws ServiceError with the codes of the client contract.
 */
export async function createQuote(
  services: QuoteServices,
  input: QuoteInput,
  keyId?: string,
): Promise<QuoteAnswer> {
  refuseUnsupported(input);
  const { quotePolicy } = services;
  const question = readQuestion(services.chains, services.solver, quotePolicy.maxTtlSeconds, input);
  const originGasUsd =
    question.originGasOverhead === undefined ? undefined : await originGasOf(services, question);
  const pricing = await pricingOf(
    services,
    question,
    await paysContract(services.recipientCodes, question),
    originGasUsd,
  );
  const trade = tradeOf(services.reservations, question, pricing);
  const account = await accountOf(question);

  const agreement = agree(services, question, pricing, trade, services.clock.nowMs(), {
    originGasUsd,
    keyId,
  });
  const answer = toQuoteAnswer({
    policy: quotePolicy,
    question,
    pricing,
    trade,
    agreement,
    account,
    timeEstimateSeconds: timeEstimate(services.timings, question, agreement.terms.inputUsd),
  });
  await services.requests.insertQuoted(agreement.terms);
  if (input.includeProtocolData !== true) return answer;
  const orderSignature = await services.signOrder(agreement.terms.orderId);
  return { ...answer, protocol: { v2: { ...answer.protocol.v2, orderSignature } } };
}

function tradeOf(reservations: Reservations, question: QuoteQuestion, pricing: RoutePricing): PricedTrade {
  const { amount, tradeType, origin } = question;
  if (question.kind === "send") {
    refuseBeyondCap(origin, amount, pricing.facts.origin, pricing.originNative, "originChainId");
    // The user pays the recipient himself: nothing is charged and nothing can move the price.
    return {
      input: amount,
      execution: 0n,
      service: 0n,
      app: 0n,
      net: amount,
      output: amount,
      expected: amount,
    };
  }
  const trade = priceTrade(tradeType, amount, pricing.facts);
  refuseBeyondLimits(reservations, question, pricing, trade);
  return trade;
}

async function accountOf({ origin, originCurrency, user }: QuoteQuestion): Promise<AccountState> {
  const { depository } = origin.chain.contracts;
  try {
    return await origin.connection.reader.accountState(user, originCurrency.address, depository);
  } catch (cause) {
    throw new ServiceError("RPC_HTTP_ERROR", `${origin.chain.displayName} did not tell the user's balance`, {
      field: "originChainId",
      cause,
    });
  }
}

/** Asked only where it matters: a native payment by the solver. */
function paysContract(
  codes: RecipientCodes,
  { kind, destination, destinationCurrency, recipient }: QuoteQuestion,
): boolean | Promise<boolean> {
  if (kind === "send" || destinationCurrency.address !== NATIVE_CURRENCY) return false;
  return codes.hasCode(destination.chain.id, recipient);
}

function timeEstimate(
  timings: RouteTimings,
  { kind, origin, destination }: QuoteQuestion,
  inputUsd: bigint,
): number {
  // A send is done with its own block: nobody waits for confirmations to pay out.
  if (kind === "send") return origin.chain.blockTimeSeconds;
  const confirmations = confirmationsFor(origin.chain.confirmationTiers, inputUsd);
  return timings.estimateSeconds(origin.chain.id, destination.chain.id, confirmations);
}
