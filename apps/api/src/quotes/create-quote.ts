import type { AccountState } from "@causeway/chains";
import type { Address, RequestTerms } from "@causeway/domain";
import { confirmationsFor, NATIVE_CURRENCY, settle, soon } from "@causeway/domain";
import type { Soon } from "@causeway/domain";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";
import type { PermitTokens } from "../chains/permits.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { QuotedRequests } from "../deposits/addresses/quoted-requests.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Random } from "../db/random.port.ts";
import type { Reservations, RouteTimings } from "../markets/quote.port.ts";
import type { RecipientCodes } from "../chains/recipient-codes.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { TokenQuirks } from "../chains/token-quirks.port.ts";
import {
  askForAddress,
  newDepositAddress,
  refuseUnmovable,
  sweepGasOf,
  type WalletNonces,
  withAddress,
} from "../deposits/index.ts";
import { permitTermsOf } from "./permits/permit-terms.ts";
import { chooseSignature } from "./permits/permit-way.ts";
import { withQuoted } from "./with-quoted.ts";
import { toQuoteAnswer } from "./quote-answer.ts";
import { readQuestion } from "./quote-question.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import { agree } from "./quote-terms.ts";
import type { Agreement } from "./quote-terms.ts";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { AskingKey, SponsorReads } from "../balances/sponsors.port.ts";
import { agreeFees } from "./routing/agree-fees.ts";
import type { ChosenRoute } from "./routing/chosen-route.ts";
import { readFeeOptions } from "./routing/fee-options.ts";
import { prepareQuestion, dryRunFirst } from "./routing/dry-run-first.ts";
import { judgeSponsor } from "./routing/judge-sponsor.ts";
import { withFees } from "./routing/with-fees.ts";
import { chooseRoute } from "./routing/choose-route.ts";
import { type OrderSigners, signedOrder } from "../chains/index.ts";
import { agreeNonEvm, goesByRail, priceNonEvm, quoteNonEvm } from "./non-evm/quote-by-rail.ts";
import type { ValuedRoute } from "./routing/choose-route.ts";
import { balanceUnavailable } from "../http/refusals.ts";

/** What agreeing on terms needs. `solver` is the address that signs orders and pays. */
export interface AgreeServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: ChainDirectory;
  /** Without it, only configured currencies are known. */
  readonly tokens?: TokenBook | undefined;
  /** Undefined: tokens are not probed. */
  readonly quirks?: TokenQuirks | undefined;
  readonly liquidity: LiquiditySource;
  /** For tokens without a price source. */
  readonly poolUsd: PoolUsd;
  readonly prices: PriceBook;
  readonly quotePolicy: QuotePolicy;
  readonly reservations: Reservations;
  readonly recipientCodes: RecipientCodes;
  readonly solver: Address;
  /** Undefined: payments by permit are not enabled. */
  readonly permitTokens?: PermitTokens | undefined;
  /** Sweeps deposit addresses. Undefined: they are not enabled. */
  readonly depositAddressOperator?: { readonly address: Address } | undefined;
  /** Submits permits. Undefined: they are not enabled. */
  readonly executor?: { readonly address: Address } | undefined;
  /** Undefined: app fees are not enabled. */
  readonly appBalance?: AppBalancePolicy | undefined;
  readonly sponsors?: SponsorReads | undefined;
  /** Undefined: deposits from Hyperliquid are not enabled. */
  readonly walletNonces?: WalletNonces | undefined;
}

/** What pricing a quote needs. */
export interface PriceServices extends AgreeServices {
  readonly timings: RouteTimings;
}

/** What a quote needs: pricing it, storing its terms and signing its order. */
export interface QuoteServices extends PriceServices, OrderSigners {
  readonly requests: QuotedRequests;
}

/**
 * Prices an intent, fixes its terms, stores them and returns the steps. The user need not hold the funds.
 * With fresh prices, pools and heads it only reads the user's balance and allowance (one call for all users
 * of a moment) and only writes the terms.
 * @param keyId of the client's API key, if any: only this key may request a fast fill below the quoted input
 * @param key that may pay fees; absent: the client cannot sponsor
 * @throws ServiceError with the codes of the public contract
 */
export async function createQuote(
  services: QuoteServices,
  input: QuoteInput,
  keyId?: string,
  key?: AskingKey,
): Promise<QuoteAnswer> {
  return await quoteAs(services, input, (answer) => answer, keyId, key);
}

/**
 * {@link createQuote} with the answer passed to `serialize` before the terms are stored (after it, if someone
 * signs first, and for non-EVM chains): what waits for the commit is then one string instead of hundreds of
 * objects that the garbage collector would have to move.
 */
export async function quoteAs<Serialized>(
  services: QuoteServices,
  input: QuoteInput,
  serialize: (answer: QuoteAnswer) => Serialized,
  keyId?: string,
  key?: AskingKey,
): Promise<Serialized> {
  if (goesByRail(services.chains, input)) return serialize(await quoteNonEvm(services, input, keyId));
  const { answered, stored } = await storeQuote(services, input, serialize, keyId, key);
  await stored;
  return answered;
}

async function storeQuote<Serialized>(
  services: QuoteServices,
  input: QuoteInput,
  serialize: (answer: QuoteAnswer) => Serialized,
  keyId: string | undefined,
  key: AskingKey | undefined,
): Promise<{ readonly answered: Serialized; readonly stored: Promise<void> | undefined }> {
  const { answer, terms } = await priced(services, input, keyId, key);
  if (input.includeProtocolData !== true) {
    const answered = serialize(answer);
    return { answered, stored: services.requests.insertQuoted(terms, newDepositAddress(terms, input)) };
  }
  await services.requests.insertQuoted(terms, newDepositAddress(terms, input));
  const signed = await signedOrder(services, terms.orderId);
  return {
    answered: serialize({ ...answer, protocol: { v2: { ...answer.protocol.v2, ...signed } } }),
    stored: undefined,
  };
}

/**
 * The answer that {@link createQuote} would give, without its signatures; nothing is stored.
 * @throws ServiceError as {@link createQuote}
 */
export async function priceQuote(
  services: PriceServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: AskingKey | undefined,
): Promise<QuoteAnswer> {
  const { answer } = goesByRail(services.chains, input)
    ? await priceNonEvm(services, input, keyId)
    : await priced(services, input, keyId, key);
  return answer;
}

async function priced(
  services: PriceServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: AskingKey | undefined,
): Promise<{ readonly answer: QuoteAnswer; readonly terms: RequestTerms }> {
  const worked = settle(workOut(services, input, keyId, key));
  const { question, valued, agreement } = worked instanceof Promise ? await worked : worked;
  if (key !== undefined && agreement.terms.sponsorship !== undefined)
    await judgeSponsor(services, key, agreement.terms);
  const answer = toQuoteAnswer({
    policy: services.quotePolicy,
    question,
    ...valued,
    agreement,
    account: await accountOf(question, valued.route),
    timeEstimateSeconds: timeEstimate(services.timings, question, valued.route, agreement.terms.inputUsd),
  });
  return { answer, terms: withQuoted(agreement.terms, answer) };
}

/** Parses, routes and prices a question; synchronous when everything is in memory. */
function* workOut(
  services: AgreeServices,
  input: QuoteInput,
  keyId: string | undefined,
  key: AskingKey | undefined,
): Soon<{ question: QuoteQuestion; valued: ValuedRoute; agreement: Agreement }> {
  const { quoted, addressOptions } = askForAddress(input);
  const plain = yield* readQuestion(services, quoted);
  const options = readFeeOptions(input, key, services.appBalance !== undefined);
  const read = options === undefined ? plain : yield* withFees(services, plain, options);
  const asked = input.usePermit === true ? yield* soon(chooseSignature(services, read, input)) : read;
  const { origin, originCurrency } = asked;
  if (addressOptions) refuseUnmovable(asked, services.depositAddressOperator);
  const paid = addressOptions ? { ...asked, sweepGas: sweepGasOf(originCurrency.address) } : asked;
  const question = yield* prepareQuestion(services, input, paid);
  const valued = yield* chooseRoute(services, question);
  const agreed = yield* agree(services, question, valued, services.clock.nowMs(), keyId);
  const paying =
    question.fees === undefined
      ? agreed
      : {
          ...agreed,
          terms: { ...agreed.terms, ...(yield* agreeFees(services, question, valued.route)) },
        };
  const agreement = yield* soon(dryRunFirst(services, question, valued, paying));
  if (question.permit !== undefined) {
    const signing = { ...question, permit: question.permit };
    const permit = permitTermsOf(services.quotePolicy.gas, signing, valued.route, agreement);
    return { question, valued, agreement: { ...agreement, terms: { ...agreement.terms, permit } } };
  }
  if (!addressOptions) return { question, valued, agreement };
  const terms = withAddress(agreement.terms, origin.chain, addressOptions);
  return { question, valued, agreement: { ...agreement, terms } };
}

/**
 * The terms that a quote for this input would fix now; stores nothing.
 * @throws ServiceError as {@link createQuote}
 */
export async function agreeOn(
  services: AgreeServices,
  input: QuoteInput,
  keyId: string | undefined,
): Promise<RequestTerms> {
  if (goesByRail(services.chains, input)) return await agreeNonEvm(services, input, keyId);
  return (await settle(workOut(services, input, keyId, undefined))).agreement.terms;
}

async function accountOf(
  { origin, originCurrency, user, permit }: QuoteQuestion,
  { trade }: ChosenRoute,
): Promise<AccountState> {
  const { depository, approvalProxy, permit2 } = origin.chain.contracts;
  const isDirect = trade.origin === undefined || originCurrency.address === NATIVE_CURRENCY;
  const spender =
    permit?.method === "permit2" && permit2 !== undefined ? permit2 : isDirect ? depository : approvalProxy;
  try {
    return await origin.connection.reader.accountState(user, originCurrency.address, spender);
  } catch (cause) {
    throw balanceUnavailable(origin.chain, cause);
  }
}

function timeEstimate(
  timings: RouteTimings,
  { origin, destination }: QuoteQuestion,
  { kind }: ChosenRoute,
  inputUsd: bigint,
): number {
  // The user pays the recipient in one block: there are no confirmations to wait for.
  if (kind !== "bridge") return origin.chain.blockTimeSeconds;
  const confirmations = confirmationsFor(origin.chain.confirmationTiers, inputUsd);
  return timings.estimateSeconds(origin.chain.id, destination.chain.id, confirmations);
}
