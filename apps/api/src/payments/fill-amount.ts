import {
  applyFeeTerms,
  BPS,
  priceInput,
  isOneAsset,
  isTopupBeyondHonor,
  NATIVE_CURRENCY,
  pairClassOf,
  decidePayout,
  sponsoredUsd,
  unspentSponsorUsd,
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
import type { AnyConnectedChain } from "../chains/chains.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { isBeyondCap, pricingOf, type RoutePricing } from "../markets/index.ts";
import { topupGas } from "./gas-units-of-topup.ts";
import type { ExecutionRecord } from "./executions.port.ts";
import type { FillBasis } from "./planned-fill.port.ts";
import type { FillSwapQuoter } from "./fill-swap.ts";
import type { FillBudget } from "./swap-in-budget.ts";

type Needs = Pick<Services, "clock" | "chains" | "prices" | "quotePolicy" | "reads">;

/** The amount to pay the recipient now. */
export type AmountDue =
  | {
      readonly kind: "pay";
      readonly amount: bigint;
      /** The solver's budget, if the fill swaps. */
      readonly budget?: FillBudget;
      /** The part of the fees that a sponsor pays, in USD with 18 decimals; undefined: nothing. */
      readonly sponsoredUsd?: bigint;
    }
  | Extract<Payout, { kind: "refund" }>
  /** The fill would exceed the limit of one request. */
  | { readonly kind: "refund"; readonly reason: "SOLVER_CAPACITY_EXCEEDED" }
  /** The cost of the fill is unknown now. */
  | { readonly kind: "wait"; readonly why: string };

/** The parts of a fill's basis that its amount depends on. */
type AmountBasis =
  | Extract<FillBasis, { kind: "fastFill" }>
  | {
      readonly kind: "deposit";
      /** Without a transaction: a deposit that the service has yet to make from a deposit address. */
      readonly deposit: Pick<DepositRecord, "amount" | "seenAtMs"> & Partial<Pick<DepositRecord, "txHash">>;
    };

/** The inputs of the amount other than the deposit. */
interface AmountFacts {
  /** The recipient is a contract paid in native tokens. */
  readonly toContract: boolean;
  readonly execution: ExecutionRecord | undefined;
  /** The swap that the terms require; undefined: none. */
  readonly swapQuoter: FillSwapQuoter | undefined;
}

/**
 * The amount to pay now: the deposit's worth under the quote, or the guaranteed amount of a fast fill.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: unknown now; retry
 */
export async function amountToPay(
  services: Needs,
  { terms }: Pick<RequestRecord, "terms">,
  basis: AmountBasis,
  { origin, destination }: RequestEnds,
  { toContract, execution, swapQuoter }: AmountFacts,
): Promise<AmountDue> {
  const nowMs = services.clock.nowMs();
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  if (basis.kind === "fastFill") {
    const { amount } = basis.fastFill;
    if (amount < terms.destination.minimumAmount) return { kind: "refund", reason: "SLIPPAGE" };
    return { kind: "pay", amount };
  }
  const { amount: deposited, seenAtMs: depositSeenAtMs } = basis.deposit;
  const times = { nowMs, depositSeenAtMs };
  const facts = { toContract, swapQuoter };
  const pricing = await pricingOfFill(services, terms, { origin, destination }, deposited, facts);
  const sponsoredPart = sponsoredUsd(terms, deposited, pricing);
  // The fixed rate cannot be kept, and nothing else was guaranteed.
  if (sponsoredPart === undefined) return { kind: "refund", reason: "SLIPPAGE" };
  const unspentUsd = await unspentOriginGasUsd(services, terms, basis.deposit.txHash, execution);
  // Unspent gas goes to the intended payer: the sponsor first.
  const unusedUsd = unspentSponsorUsd(terms, sponsoredPart, unspentUsd);
  const sponsor = { sponsoredUsd: sponsoredPart - unusedUsd };
  const unspent =
    terms.tradeType === "EXACT_OUTPUT" || terms.sponsorship?.fixedRate !== undefined
      ? 0n
      : usdToAmountDown(unspentUsd - unusedUsd, pricing.facts.destination);
  const { paidFrom } = terms.destination;
  const due =
    paidFrom === undefined || swapQuoter === undefined
      ? payoutWithoutSwap(payoutOf(services, terms, deposited, pricing, times), unspent)
      : await payoutWithSwap(services, terms, {
          paidFrom,
          swapQuoter,
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

function payoutWithoutSwap(due: Payout, unspent: bigint): AmountDue {
  return due.kind === "refund" ? due : { kind: "pay", amount: due.amount + unspent };
}

/**
 * A deposit above the quote may not come from its swap, since users can deposit any amount themselves. So the
 * limits of quotes also apply to fills above the quoted amount.
 */
function isBeyondLimits(
  { chains }: Pick<Needs, "chains">,
  { requestId, origin: quotedOrigin, destination: { chainId, currency, paidFrom }, gasTopup }: RequestTerms,
  { origin, destination }: RequestEnds,
  deposited: bigint,
  { amount, budget }: Extract<AmountDue, { kind: "pay" }>,
  { facts, originNative }: RoutePricing,
): boolean {
  if (deposited <= quotedOrigin.amount) return false;
  const spent = budget?.planned ?? amount;
  const { maxFillAmount } = configuredCurrency({ chains }, requestId, {
    chainId,
    currency: paidFrom ?? currency,
  });
  return (
    (maxFillAmount !== undefined && spent > maxFillAmount) ||
    isBeyondCap(origin.chain, deposited, facts.origin, originNative) ||
    isBeyondCap(destination.chain, spent, facts.destination, facts.destinationNative, gasTopup?.amount)
  );
}

/** The terms that determine a fill's price. */
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
 * Prices a request's route like its quote: from the deposit to the currency that the solver pays with,
 * including the gas of the swap.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR, SERVICE_UNAVAILABLE
 */
export async function pricingOfFill(
  services: Pick<Services, "chains" | "prices" | "quotePolicy">,
  terms: PricedTerms,
  { origin, destination }: RequestEnds,
  deposited: bigint,
  { toContract, swapQuoter }: Pick<AmountFacts, "toContract" | "swapQuoter">,
): Promise<RoutePricing> {
  const { requestId, pairClass, originGasUsd } = terms;
  const { chainId, currency, paidFrom } = terms.destination;
  const route = {
    origin,
    destination,
    originCurrency: configuredCurrency(services, requestId, terms.origin),
    destinationCurrency: configuredCurrency(services, requestId, { chainId, currency: paidFrom ?? currency }),
  };
  const nonEvmCost = await destination.costOfPaying?.(currency, terms.recipient);
  const price = async (swapGas?: bigint) =>
    applyFeeTerms(
      await pricingOf(services, route, toContract, originGasUsd, {
        pairClass,
        swapGas,
        callsGas: terms.outputCalls?.gas ?? topupGas(services.quotePolicy.gas, terms.gasTopup?.amount),
        nonEvmCost,
        hasTopup: terms.gasTopup !== undefined,
      }),
      terms,
    );
  if (swapQuoter === undefined) return await price();
  const { output } = priceInput(deposited, (await price(0n)).facts);
  const purchase = output === 0n ? undefined : await swapQuoter.quoteExactIn(output);
  return await price(purchase?.gas ?? 0n);
}

/** The origin and destination of a request. */
export interface RequestEnds {
  readonly origin: AnyConnectedChain;
  readonly destination: AnyConnectedChain;
}

/**
 * The amount due when the solver swaps from another currency: what the deposit's worth buys in the pools now.
 * If the quote promised more, the solver covers the difference up to {@link honorBpsOf}. If the pools cost
 * even more, pays what the deposit buys, or refunds.
 */
async function payoutWithSwap(
  services: Needs,
  terms: RequestTerms,
  {
    paidFrom,
    swapQuoter,
    pricing,
    deposited,
    unspent,
    times,
  }: {
    readonly paidFrom: Address;
    readonly swapQuoter: FillSwapQuoter;
    readonly pricing: RoutePricing;
    readonly deposited: bigint;
    /** Base units of `paidFrom`. */
    readonly unspent: bigint;
    readonly times: PayoutTimes;
  },
): Promise<AmountDue> {
  const worth = priceInput(deposited, pricing.facts).output;
  if (worth === 0n) return { kind: "refund", reason: "SLIPPAGE" };
  const repriced = (await swapQuoter.quoteExactIn(worth))?.amountOut;
  if (repriced === undefined) return { kind: "wait", why: "no swap covers the fill" };
  // Unspent origin gas buys at the margin, where each unit buys less.
  const withUnspent = unspent === 0n ? repriced : (await swapQuoter.quoteExactIn(worth + unspent))?.amountOut;
  if (withUnspent === undefined) return { kind: "wait", why: "no swap covers the fill" };
  const honorBps = honorBpsOf(services, terms, pricing);
  // Also the limit in the block itself: anyone who moves the pools after the simulation gains what is spent
  // above the deposit's value.
  const max = maxSpend(worth, honorBps) + unspent;
  for (const [coveredBps, planned] of [
    [honorBps, maxSpend(worth, honorBps)],
    [0, worth],
  ] as const) {
    const due = decidePayout(terms, { deposited, repriced }, coveredBps, times);
    if (due.kind === "refund") return due;
    const cost = await swapQuoter.quoteExactOut(due.amount);
    // Exact-output quotes may differ slightly from exact-input quotes.
    const maxCost = planned + planned / ROUNDING_PARTS + 1n;
    if (cost === undefined || cost.amountIn > maxCost) continue;
    const amount = due.amount + withUnspent - repriced;
    return { kind: "pay", amount, budget: { paidFrom, planned: maxCost + unspent, max } };
  }
  return { kind: "wait", why: "swap quotes for exact input and exact output contradict each other" };
}

/** The two quoting directions agree to one part in this many. */
const ROUNDING_PARTS = 10_000n;

/** The maximum to spend on a fill worth `worth` when the solver covers these bps. */
function maxSpend(worth: bigint, coveredBps: number): bigint {
  return (worth * BPS) / (BPS - BigInt(coveredBps));
}

/**
 * How far a firm quote is honored, in bps. Between assets it is an option against the solver, so the fee
 * charged is its cap. The same applies to an intermediate asset and to a gas top-up, by their pairs' fees; a
 * top-up beyond its cap reprices the whole deposit.
 */
export function honorBpsOf(
  { chains, quotePolicy: { honorBps, serviceBps } }: Pick<Services, "chains" | "quotePolicy">,
  { origin, destination: { chainId, currency, paidFrom = currency }, gasTopup }: RequestTerms,
  { pairClass: charged, facts }: RoutePricing,
): number {
  const bpsOfClass = (pairClass: PairClass): number =>
    isOneAsset(pairClass) ? honorBps : Math.min(honorBps, serviceBps[pairClass]);
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (gasTopup !== undefined) {
    const native = chains.currency(chainId, NATIVE_CURRENCY);
    const topupClass = deposited && native ? pairClassOf(deposited, native) : "minor";
    if (isTopupBeyondHonor(gasTopup, facts, bpsOfClass(topupClass))) return 0;
  }
  if (!isOneAsset(charged)) return bpsOfClass(charged);
  const [paid, delivered] = [chains.currency(chainId, paidFrom), chains.currency(chainId, currency)];
  if (!deposited || !paid || !delivered) return bpsOfClass("minor");
  return Math.min(bpsOfClass(pairClassOf(deposited, paid)), bpsOfClass(pairClassOf(paid, delivered)));
}

function configuredCurrency(
  { chains }: Pick<Services, "chains">,
  requestId: string,
  { chainId, currency }: { readonly chainId: number; readonly currency: Address },
): Currency {
  const configured = chains.currency(chainId, currency);
  if (configured === undefined)
    throw new Error(
      `${currency === NATIVE_CURRENCY ? "the native token" : currency} of chain ${chainId}, in which ${requestId} is priced, is no longer configured`,
    );
  return configured;
}

/**
 * The origin gas in the quote that was not spent, because an app paid it or the user sent the transaction. It
 * belongs to the user or the sponsor. USD with 18 decimals. Exact outputs and fixed rates do not change.
 */
async function unspentOriginGasUsd(
  { reads }: Pick<Services, "reads">,
  { requestId, originGasUsd, depositAddress, permit }: RequestTerms,
  depositTxHash: TxHash | undefined,
  execution: ExecutionRecord | undefined,
): Promise<bigint> {
  if (originGasUsd === undefined) return 0n;
  // The service itself swept the deposit address.
  if (depositAddress !== undefined) return 0n;
  if (execution === undefined || execution.wallet !== undefined) return originGasUsd;
  // Regardless of who submitted the permit, only the quote pays for the service's own attempt.
  if (permit !== undefined) return 0n;
  // Another transaction made the deposit: the execution's app pays for the gas it used, if any.
  const slot = await reads.slotOfLeg("execution", requestId);
  const isSpent = slot?.attempts.some(({ txHash }) => txHash === depositTxHash) === true;
  return isSpent ? 0n : originGasUsd;
}

/**
 * The payout for an input at these times and prices under the quote, when the solver pays in the output's own
 * currency.
 */
export function payoutOf(
  services: Pick<Services, "chains" | "quotePolicy">,
  terms: RequestTerms,
  input: bigint,
  pricing: RoutePricing,
  times: PayoutTimes,
): Payout {
  return decidePayout(
    terms,
    { deposited: input, repriced: priceInput(input, pricing.facts).output },
    honorBpsOf(services, terms, pricing),
    times,
  );
}
