import {
  BPS,
  forward,
  isOneAsset,
  isTopupBeyondHonour,
  NATIVE_CURRENCY,
  pairClassOf,
  payout,
  usdToAmountDown,
} from "@causeway/domain";
import type {
  Address,
  Currency,
  PairClass,
  Payout,
  PayoutTimes,
  RequestTerms,
  TxHash,
} from "@causeway/domain";
import type { RequestEnd } from "../chains/chains.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { agreedPricing, unusedSponsorUsd, sponsoredUsd } from "../markets/prices/agreed-pricing.ts";
import { topupGas } from "./topup-gas.ts";
import type { FillBasis } from "./fill-basis.ts";
import { exchangeInFill } from "./fill-exchange.ts";
import type { FillExchange } from "./fill-exchange.ts";
import type { FillBudget } from "./exchange-in-budget.ts";
import { isBeyondCap } from "../markets/prices/quote-limits.ts";
import { pricingOf } from "../markets/prices/quote-pricing.ts";
import type { RoutePricing } from "../markets/prices/quote-pricing.ts";
import { costOfPaying } from "./non-evm/cost-of-paying.ts";
import { isRail } from "../http/request-end.ts";

type Needs = Pick<Services, "clock" | "chains" | "prices" | "quotePolicy" | "reads" | "liquidity">;

/** What a recipient is to get now. */
export type AmountDue =
  | {
      readonly kind: "pay";
      readonly amount: bigint;
      /** What the solver may spend on it, of a fill that is exchanged. */
      readonly budget?: FillBudget;
      /** What a sponsor pays of its fees, USD with 18 decimals; undefined: nothing. */
      readonly sponsoredUsd?: bigint;
    }
  | Extract<Payout, { kind: "refund" }>
  /** It would be more than one request may move. */
  | { readonly kind: "refund"; readonly reason: "SOLVER_CAPACITY_EXCEEDED" }
  /** What it costs cannot be told now. */
  | { readonly kind: "wait"; readonly why: string };

/**
 * What a request's recipient is to get now: what its deposit is worth by the promise of the quote, or what
 * was promised when an app vouched.
 * @param toContract the recipient is a contract that is paid in native coin
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: nothing is known, ask again
 */
export async function amountToPay(
  services: Needs,
  { terms }: RequestRecord,
  basis: FillBasis,
  { origin, destination }: Ends,
  toContract: boolean,
): Promise<AmountDue> {
  const nowMs = services.clock.nowMs();
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  if (basis.kind === "front") {
    const { amount } = basis.promised;
    if (amount < terms.destination.minimumAmount) return { kind: "refund", reason: "SLIPPAGE" };
    return { kind: "pay", amount };
  }
  const { amount: deposited, seenAtMs: depositSeenAtMs } = basis.deposit;
  const times = { nowMs, depositSeenAtMs };
  const { pricing, exchange } = await pricingOfFill(
    services,
    terms,
    { origin, destination },
    deposited,
    toContract,
  );
  const sponsoredPart = sponsoredUsd(terms, deposited, pricing);
  // The rate cannot be kept, and nothing else was promised.
  if (sponsoredPart === undefined) return { kind: "refund", reason: "SLIPPAGE" };
  const unspentUsd = await notSpentOnOrigin(services, terms, basis.deposit.txHash);
  // Whoever was to pay for it gets it back: the sponsor first.
  const spared = unusedSponsorUsd(terms, sponsoredPart, unspentUsd);
  const sponsor = { sponsoredUsd: sponsoredPart - spared };
  const unspent =
    terms.tradeType === "EXACT_OUTPUT" || terms.sponsorship?.fixedRate !== undefined
      ? 0n
      : usdToAmountDown(unspentUsd - spared, pricing.facts.destination);
  const { paidFrom } = terms.destination;
  const due =
    paidFrom === undefined || exchange === undefined
      ? paidAsItIs(payoutOf(services, terms, deposited, pricing, times), unspent)
      : await exchangedPayout(services, terms, {
          paidFrom,
          exchange,
          pricing,
          deposited,
          unspent,
          times,
        });
  if (due.kind !== "pay") return due;
  if (isBeyondLimits(services, terms, { origin, destination }, deposited, due, pricing))
    return { kind: "refund", reason: "SOLVER_CAPACITY_EXCEEDED" };
  return { ...due, ...sponsor };
}

function paidAsItIs(due: Payout, unspent: bigint): AmountDue {
  return due.kind === "refund" ? due : { kind: "pay", amount: due.amount + unspent };
}

/**
 * After a swap more may have come than was quoted, and nobody can see to it that it came out of one: whoever
 * deposits by himself deposits what he likes. So what bounds quotes bounds the fill of more than was quoted.
 */
function isBeyondLimits(
  { chains }: Pick<Needs, "chains">,
  { requestId, origin: agreed, destination: { chainId, currency, paidFrom }, gasTopup }: RequestTerms,
  { origin, destination }: Ends,
  deposited: bigint,
  { amount, budget }: Extract<AmountDue, { kind: "pay" }>,
  { facts, originNative }: RoutePricing,
): boolean {
  if (deposited <= agreed.amount) return false;
  const spent = budget?.planned ?? amount;
  const { maxFillAmount } = knownCurrency({ chains }, requestId, { chainId, currency: paidFrom ?? currency });
  return (
    (maxFillAmount !== undefined && spent > maxFillAmount) ||
    isBeyondCap(origin.chain, deposited, facts.origin, originNative) ||
    isBeyondCap(destination.chain, spent, facts.destination, facts.destinationNative, gasTopup?.amount)
  );
}

/** The terms that a fill is priced by. */
type PricedTerms = Pick<
  RequestTerms,
  | "requestId"
  | "recipient"
  | "pairClass"
  | "originGasUsd"
  | "appFees"
  | "sponsorship"
  | "gasTopup"
  | "outputCalls"
> & {
  readonly origin: Pick<RequestTerms["origin"], "chainId" | "currency">;
  readonly destination: Pick<RequestTerms["destination"], "chainId" | "currency" | "paidFrom">;
};

/**
 * The live facts of a request's route, as its quote was priced: from the deposit to what the solver pays
 * with, the gas of the exchange that such a deposit needs included.
 * @param toContract the recipient is a contract that is paid in native coin
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR, SERVICE_UNAVAILABLE
 */
export async function pricingOfFill(
  services: Pick<Services, "chains" | "prices" | "quotePolicy" | "liquidity">,
  terms: PricedTerms,
  { origin, destination }: Ends,
  deposited: bigint,
  toContract: boolean,
): Promise<{ readonly pricing: RoutePricing; readonly exchange: FillExchange | undefined }> {
  const { requestId, pairClass, originGasUsd } = terms;
  const { chainId, currency, paidFrom } = terms.destination;
  const route = {
    origin,
    destination,
    originCurrency: knownCurrency(services, requestId, terms.origin),
    destinationCurrency: knownCurrency(services, requestId, { chainId, currency: paidFrom ?? currency }),
  };
  const railCost = await costOfPaying(destination, currency, terms.recipient);
  const priced = async (swapGas?: bigint) =>
    agreedPricing(
      await pricingOf(services, route, toContract, originGasUsd, {
        pairClass,
        swapGas,
        callsGas: terms.outputCalls?.gas ?? topupGas(services.quotePolicy.gas, terms.gasTopup?.amount),
        railCost,
        hasTopup: terms.gasTopup !== undefined,
      }),
      terms,
    );
  if (paidFrom === undefined) return { pricing: await priced(), exchange: undefined };
  const { routed } = services.quotePolicy.gas;
  if (isRail(destination)) throw new Error(`invariant violated: fill of ${requestId} must swap but cannot`);
  const exchange = exchangeInFill(services.liquidity, destination.chain, { paidFrom, currency }, routed);
  const { output } = forward(deposited, (await priced(0n)).facts);
  const purchase = output === 0n ? undefined : await exchange.buys(output);
  return { pricing: await priced(purchase?.gas ?? 0n), exchange };
}

/** Where a request's money comes from and goes to. */
export interface Ends {
  readonly origin: RequestEnd;
  readonly destination: RequestEnd;
}

/**
 * The same where the solver pays from another currency: what its part of the deposit buys in the pools of the
 * moment is what the deposit buys. What is promised beyond that is paid as far as the solver bears it; where
 * the pools ask even more for it than that, what the deposit buys is paid, or the deposit goes back.
 */
async function exchangedPayout(
  services: Needs,
  terms: RequestTerms,
  {
    paidFrom,
    exchange,
    pricing,
    deposited,
    unspent,
    times,
  }: {
    readonly paidFrom: Address;
    readonly exchange: FillExchange;
    readonly pricing: RoutePricing;
    readonly deposited: bigint;
    /** Smallest units of `paidFrom`. */
    readonly unspent: bigint;
    readonly times: PayoutTimes;
  },
): Promise<AmountDue> {
  const worth = forward(deposited, pricing.facts).output;
  if (worth === 0n) return { kind: "refund", reason: "SLIPPAGE" };
  const repriced = (await exchange.buys(worth))?.amountOut;
  if (repriced === undefined) return { kind: "wait", why: "no swap covers the fill" };
  // What was not spent on the origin transaction buys what more of the same buys: less and less.
  const withUnspent = unspent === 0n ? repriced : (await exchange.buys(worth + unspent))?.amountOut;
  if (withUnspent === undefined) return { kind: "wait", why: "no swap covers the fill" };
  const honourBps = honourOf(services, terms, pricing);
  // Also in the block itself: whoever moves the pools between the simulation and the block takes what is
  // spent beyond what the deposit is worth.
  const most = raised(worth, honourBps) + unspent;
  for (const [bearableBps, planned] of [
    [honourBps, raised(worth, honourBps)],
    [0, worth],
  ] as const) {
    const due = payout(terms, { deposited, repriced }, bearableBps, times);
    if (due.kind === "refund") return due;
    const cost = await exchange.costs(due.amount);
    // Told by a way of its own, it may lie a little beside what the other way tells.
    const borne = planned + planned / ROUNDING_PARTS + 1n;
    if (cost === undefined || cost.amountIn > borne) continue;
    const amount = due.amount + withUnspent - repriced;
    return { kind: "pay", amount, budget: { paidFrom, planned: borne + unspent, most } };
  }
  return { kind: "wait", why: "swap quotes for exact input and exact output contradict each other" };
}

/** Two ways of asking the same pools agree to one part in so many. */
const ROUNDING_PARTS = 10_000n;

/** The most that is spent for what is worth so much, when the solver bears these bps. */
function raised(worth: bigint, bearableBps: number): bigint {
  return (worth * BPS) / (BPS - BigInt(bearableBps));
}

/**
 * How far a firm quote is kept, bps. Between two assets a firm price is an option against the solver: it is
 * worth no more than what was charged for it. Where the user pays and gets one asset and another lies
 * between, nothing was charged, and it is worth no more than what that pair would be. A gas top-up is such an
 * option too: when its native token has risen by more than its own pair's service fee, all of the deposit is
 * repriced.
 */
export function honourOf(
  { chains, quotePolicy: { honourBps, serviceBps } }: Pick<Services, "chains" | "quotePolicy">,
  { origin, destination: { chainId, currency, paidFrom = currency }, gasTopup }: RequestTerms,
  { pairClass: charged, facts }: RoutePricing,
): number {
  const classOf = (pairClass: PairClass): number =>
    isOneAsset(pairClass) ? honourBps : Math.min(honourBps, serviceBps[pairClass]);
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (gasTopup !== undefined) {
    const native = chains.currency(chainId, NATIVE_CURRENCY);
    const topupClass = deposited && native ? pairClassOf(deposited, native) : "minor";
    if (isTopupBeyondHonour(gasTopup, facts, classOf(topupClass))) return 0;
  }
  if (!isOneAsset(charged)) return classOf(charged);
  const [paid, delivered] = [chains.currency(chainId, paidFrom), chains.currency(chainId, currency)];
  if (!deposited || !paid || !delivered) return classOf("minor");
  return Math.min(classOf(pairClassOf(deposited, paid)), classOf(pairClassOf(paid, delivered)));
}

function knownCurrency(
  { chains }: Pick<Services, "chains">,
  requestId: string,
  { chainId, currency }: { readonly chainId: number; readonly currency: Address },
): Currency {
  const known = chains.currency(chainId, currency);
  if (known === undefined)
    throw new Error(
      `${currency === NATIVE_CURRENCY ? "the native token" : currency} of chain ${chainId}, in which ${requestId} is priced, is no longer configured`,
    );
  return known;
}

/**
 * What the output was to pay for the origin transaction and did not have to, because an app paid for it or
 * the user sent it himself: his, or his sponsor's. USD with 18 decimals. An exact output stays exact, and so
 * does what is bought at a fixed rate.
 */
async function notSpentOnOrigin(
  { reads }: Pick<Services, "reads">,
  { requestId, originGasUsd, depositAddress, permit }: RequestTerms,
  depositTxHash: TxHash,
): Promise<bigint> {
  if (originGasUsd === undefined) return 0n;
  // The service has moved it from the address itself.
  if (depositAddress !== undefined) return 0n;
  const execution = await reads.execution(requestId);
  if (execution === undefined || execution.wallet !== undefined) return originGasUsd;
  // Whoever submitted a signature, nobody but the quote pays for the service's own try.
  if (permit !== undefined) return 0n;
  // Another transaction has made the deposit: the execution costs its app what it burned, or nothing.
  const slot = await reads.slotOfLeg("execution", requestId);
  const isSpent = slot?.attempts.some(({ txHash }) => txHash === depositTxHash) === true;
  return isSpent ? 0n : originGasUsd;
}

/**
 * What an input that came at that time buys, by the promise of the quote and at these prices, when the solver
 * pays in the output's own currency.
 */
export function payoutOf(
  services: Pick<Services, "chains" | "quotePolicy">,
  terms: RequestTerms,
  input: bigint,
  pricing: RoutePricing,
  times: PayoutTimes,
): Payout {
  return payout(
    terms,
    { deposited: input, repriced: forward(input, pricing.facts).output },
    honourOf(services, terms, pricing),
    times,
  );
}
