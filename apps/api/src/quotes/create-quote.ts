import type { Address, RequestTerms } from "@causeway/domain";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { QuoteKey, SponsorReads } from "../balances/sponsors.port.ts";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { newRequestId, type OrderSigner, signedOrder } from "../requests/index.ts";
import type { PermitTokens } from "../chains/permits.port.ts";
import type { RecipientCodes } from "../chains/recipient-codes.port.ts";
import type { TokenQuirks } from "../chains/token-quirks.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { Random } from "../db/random.port.ts";
import type { QuotedRequests } from "../deposits/addresses/quoted-requests.port.ts";
import { newDepositAddress, type WalletNonces, withAddress } from "../deposits/index.ts";
import { depositsNotEnabled } from "../http/refusals.ts";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Reservations, RouteTimings } from "../markets/quote.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import { refusePaused, type KnownPauses } from "../payments/index.ts";
import { createMarket } from "./market.ts";
import { permitTermsOf } from "./permits/permit-terms.ts";
import { toQuoteAnswer } from "./quote-answer.ts";
import { refuseUnpayable, refuseUnsweepable } from "./refuse-unpayable.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import { fixTerms, type Agreement, type Stamp } from "./quote-terms.ts";
import { readQuestion } from "./read-question.ts";
import { fixFees } from "./routing/fee-terms.ts";
import { chooseRoute, type ValuedRoute } from "./routing/choose-route.ts";
import type { ChosenRoute } from "./routing/chosen-route.ts";
import { priceCalls } from "./routing/dry-run-calls.ts";
import { dryRunFirst } from "./routing/dry-run-first.ts";
import { judgeSponsor } from "./routing/judge-sponsor.ts";
import { withDisplayFacts } from "./display-facts.ts";

/** The services for fixing the terms of a quote. `solver` is the address that signs orders and pays. */
export interface TermsServices extends KnownPauses {
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: ChainDirectory;
  /** Undefined: only configured currencies are known. */
  readonly tokens?: TokenBook | undefined;
  /** Undefined: tokens are not probed. */
  readonly quirks?: TokenQuirks | undefined;
  readonly liquidity: LiquiditySource;
  /** Values tokens that have no price source. */
  readonly poolUsd: PoolUsd;
  readonly prices: PriceBook;
  readonly quotePolicy: QuotePolicy;
  readonly reservations: Reservations;
  readonly recipientCodes: RecipientCodes;
  readonly solver: Address;
  /** Undefined: payments by permit are not enabled. */
  readonly permitTokens?: PermitTokens | undefined;
  /** Sweeps deposit addresses. Undefined: deposit addresses are not enabled. */
  readonly depositAddressOperator?: { readonly address: Address } | undefined;
  /** Submits permits. Undefined: payments by permit are not enabled. */
  readonly executor?: { readonly address: Address } | undefined;
  /** Undefined: app fees are not enabled. */
  readonly appBalance?: AppBalancePolicy | undefined;
  readonly sponsors?: SponsorReads | undefined;
  /** Undefined: deposits from Hyperliquid are not enabled. */
  readonly walletNonces?: WalletNonces | undefined;
}

/** The services for pricing a quote. */
export interface PriceServices extends TermsServices {
  readonly timings: RouteTimings;
}

/** The services for a quote: pricing it, storing its terms and signing its order. */
export interface QuoteServices extends PriceServices, Pick<OrderSigner, "signOrder"> {
  readonly requests: QuotedRequests;
}

/**
 * Prices an intent, fixes its terms, stores them and returns the steps. The user need not hold the funds.
 * With fresh prices, pools and heads, it reads only the user's balance and allowance (concurrent quotes share
 * one call) and writes only the terms.
 * @param keyId the client's API key, if any: only this key may request a fast fill below the quoted input
 * @param key the client's API key, whose app may sponsor fees; absent: nothing can be sponsored
 * @throws ServiceError with the codes of the public contract
 */
export async function createQuote(
  services: QuoteServices,
  input: QuoteInput,
  keyId?: string,
  key?: QuoteKey,
): Promise<QuoteAnswer> {
  return await quoteAs(services, input, (answer) => answer, keyId, key);
}

/**
 * Like {@link createQuote}, but passes the answer to `serialize` before the terms are stored, or after if the
 * order is signed. While the commit is pending, one string then stays in memory instead of hundreds of
 * objects that the garbage collector would have to move.
 */
export async function quoteAs<Serialized>(
  services: QuoteServices,
  input: QuoteInput,
  serialize: (answer: QuoteAnswer) => Serialized,
  keyId?: string,
  key?: QuoteKey,
): Promise<Serialized> {
  const { serialized, stored } = await storeQuote(services, input, serialize, keyId, key);
  await stored;
  return serialized;
}

async function storeQuote<Serialized>(
  services: QuoteServices,
  input: QuoteInput,
  serialize: (answer: QuoteAnswer) => Serialized,
  keyId: string | undefined,
  key: QuoteKey | undefined,
): Promise<{ readonly serialized: Serialized; readonly stored: Promise<void> | undefined }> {
  const { answer, terms } = await priceTerms(services, input, keyId, key);
  if (input.includeProtocolData !== true) {
    const serialized = serialize(answer);
    return { serialized, stored: services.requests.insertQuoted(terms, newDepositAddress(terms, input)) };
  }
  await services.requests.insertQuoted(terms, newDepositAddress(terms, input));
  const signed = await signedOrder(services, terms.order);
  return {
    serialized: serialize({ ...answer, protocol: { v2: { ...answer.protocol.v2, ...signed } } }),
    stored: undefined,
  };
}

/**
 * Returns the answer of {@link createQuote} without its signatures. Stores nothing.
 * @throws ServiceError as {@link createQuote}
 */
export async function priceQuote(
  services: PriceServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: QuoteKey | undefined,
): Promise<QuoteAnswer> {
  return (await priceTerms(services, input, keyId, key)).answer;
}

async function priceTerms(
  services: PriceServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: QuoteKey | undefined,
): Promise<{ readonly answer: QuoteAnswer; readonly terms: RequestTerms }> {
  const { question, valued, agreement } = await prepareQuote(services, input, keyId, key);
  const { terms, guarantee } = agreement;
  const { route } = valued;
  if (key !== undefined && terms.sponsorship !== undefined) await judgeSponsor(services, key, terms);
  const { originCurrency, destinationCurrency, tradeType, publicKey, tokens } = question;
  const { resetsApproval } = tokens;
  const questionFacts = { originCurrency, destinationCurrency, tradeType, publicKey, resetsApproval };
  const facts = { ...questionFacts, policy: services.quotePolicy, route, terms, guarantee };
  const [userSteps] = await Promise.all([
    question.from.steps(facts),
    refuseUnpayable(question, minPayment(valued, agreement)),
    refuseUnsweepable(question, terms),
  ]);
  const timeEstimateSeconds = timeEstimate(services.timings, question, route, terms.inputUsd);
  const answer = toQuoteAnswer({ question, ...valued, agreement, userSteps, timeEstimateSeconds });
  return { answer, terms: withDisplayFacts(terms, answer) };
}

/** Reads the question, chooses its route and fixes the terms. */
async function prepareQuote(
  sources: TermsServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: QuoteKey | undefined,
): Promise<{
  readonly question: QuoteQuestion;
  readonly valued: ValuedRoute;
  readonly agreement: Agreement;
}> {
  const market = createMarket(sources);
  const services = { ...sources, market };
  const { question: unpriced, addressOptions } = await market.decide(() =>
    readQuestion(services, input, key),
  );
  refusePaused(services, unpriced.origin.chain.id, unpriced.destination.chain.id);
  const question = await priceCalls(services, unpriced);
  const stamp = stampOf(services, question);
  const { valued, draft } = await market.decide(() => {
    const chosen = chooseRoute(services, question);
    const { terms, ...bounds } = fixTerms(services, question, chosen, stamp, keyId);
    const fees = fixFees(services, question, chosen.route);
    return { valued: chosen, draft: { ...bounds, terms: { ...terms, ...fees } } };
  });
  const agreement = await dryRunFirst(services, question, valued, draft);
  const { terms } = agreement;
  if (question.permit !== undefined) {
    const permitQuestion = { ...question, permit: question.permit };
    const permit = permitTermsOf(services.quotePolicy.gas, permitQuestion, valued.route, agreement);
    return { question, valued, agreement: { ...agreement, terms: { ...terms, permit } } };
  }
  if (addressOptions === undefined) return { question, valued, agreement };
  const withDepositAddress = withAddress(terms, question.from.depositAddressOf, addressOptions);
  return { question, valued, agreement: { ...agreement, terms: withDepositAddress } };
}

/** Call once per quote: a decision may run several times, but its nonce and ids must not change. */
function stampOf(
  { clock, random, walletNonces }: Pick<TermsServices, "clock" | "random" | "walletNonces">,
  { origin, from }: QuoteQuestion,
): Stamp {
  const nowMs = clock.nowMs();
  const nextNonce = (): number => {
    if (walletNonces === undefined) throw depositsNotEnabled(origin.chain);
    return walletNonces.next(nowMs, Number.parseInt(random.bytes32().slice(2, 10), 16) / 2 ** 32);
  };
  const walletNonce = from.needsWalletNonce ? nextNonce() : undefined;
  return { nowMs, salt: random.bytes32(), requestId: newRequestId(random), walletNonce };
}

/**
 * Returns the terms that a quote for this input would fix now. Stores nothing.
 * @throws ServiceError as {@link createQuote}
 */
export async function quoteTerms(
  services: TermsServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<RequestTerms> {
  // Quotes during a pause too, because the payment is already on its way: the fill waits, and is refunded
  // after its deadline.
  const { question, valued, agreement } = await prepareQuote(
    { ...services, pauses: undefined },
    input,
    keyId,
    undefined,
  );
  await refuseUnpayable(question, minPayment(valued, agreement));
  return agreement.terms;
}

/**
 * The smallest payment to the recipient: a swap before the deposit may yield less than expected, and then
 * less is paid.
 */
function minPayment({ route }: ValuedRoute, { guarantee }: Agreement): bigint {
  return guarantee.minDeposit === undefined ? route.trade.expected : guarantee.minimumAmount;
}

function timeEstimate(
  timings: RouteTimings,
  { origin, destination, from }: QuoteQuestion,
  { kind }: ChosenRoute,
  inputUsd: bigint,
): number {
  // The user pays the recipient in one transaction, so there are no confirmations to wait for.
  if (kind !== "bridge") return origin.chain.blockTimeSeconds;
  return timings.estimateSeconds(origin.chain.id, destination.chain.id, from.confirmations(inputUsd));
}
