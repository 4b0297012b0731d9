import { amountToUsdDown, amountToUsdUp, forward, leastDeposit, usdToAmountDown } from "@causeway/domain";
import type { LedgerAsset, PricedUnit, RequestTerms } from "@causeway/domain";
import type { Services } from "../ports/services.ts";
import { unitInMemory } from "./app-balance/appraise.ts";
import { refusal } from "./fast-fill-refusals.ts";
import { payoutOf } from "./fill-amount.ts";
import { isNativeToContract } from "./payment-plan.ts";
import { pricingOf } from "./quote-pricing.ts";
import type { RoutePricing } from "./quote-pricing.ts";

type Needs = Pick<Services, "clock" | "chains" | "prices" | "quotePolicy" | "appBalance">;

/** What a fast fill pays, and what it is worth, at the prices of one moment. */
export interface PricedFastFill {
  /** Smallest units of the destination's currency; never below the promised minimum. */
  readonly amount: bigint;
  /** What it was priced on, smallest units of the origin's currency. */
  readonly inputAmount: bigint;
  /** USD with 18 decimals, rounded up: what the app vouches with. */
  readonly usd: bigint;
  /** What the deposit will be worth more than `inputAmount`. */
  readonly surplus: { readonly asset: LedgerAsset; readonly amount: bigint };
}

/**
 * Prices a fast fill like the fill of a deposit that came now. A lower input than quoted buys less, never less than the minimum; what the deposit is worth more is the app's.
 * @throws ServiceError FAST_FILL_REFUSED when that is not possible; PRICE_FETCH_FAILED, RPC_HTTP_ERROR when it cannot be told now
 */
export async function priceFastFill(
  services: Needs,
  terms: RequestTerms,
  input: bigint | undefined,
): Promise<PricedFastFill> {
  const { requestId } = terms;
  // A swap before the deposit may bring more, but only its minimum is sure to come.
  const lendable = leastDeposit(terms);
  const inputAmount = input ?? lendable;
  if (inputAmount > lendable || inputAmount === 0n)
    throw refusal(
      "inputAboveQuote",
      requestId,
      "solverInputCurrencyAmount must be above 0 and at most what is sure to be deposited",
      { quotedAmount: lendable.toString() },
    );
  // Deposits on such chains are seen when they are final and not before, and payments there take their time.
  const rails = [terms.origin, terms.destination].map(({ chainId }) => services.chains.rail(chainId));
  if (rails.some((rail) => rail !== undefined))
    throw refusal("slowChain", requestId, "requests from or to this chain wait for their deposit");
  const origin = services.chains.get(terms.origin.chainId);
  const destination = services.chains.get(terms.destination.chainId);
  const originCurrency = services.chains.currency(terms.origin.chainId, terms.origin.currency);
  const destinationCurrency = services.chains.currency(terms.destination.chainId, terms.destination.currency);
  if (!origin || !destination || !originCurrency || !destinationCurrency)
    throw refusal(
      "currencyNotConfigured",
      requestId,
      "a chain or currency of the request is not served any more",
    );
  const toContract = await isNativeToContract(destination, destinationCurrency.address, terms.recipient);
  const pricing = await pricingOf(
    services,
    { origin, destination, originCurrency, destinationCurrency },
    toContract,
    terms.originGasUsd,
    { pairClass: terms.pairClass, callsGas: terms.outputCalls?.gas },
  );
  const amount = amountFor(services, terms, inputAmount, pricing);
  return {
    amount,
    inputAmount,
    usd: amountToUsdUp(amount, pricing.facts.destination),
    surplus: surplusOf(services, terms, lendable - inputAmount, pricing.facts.origin),
  };
}

function amountFor(services: Needs, terms: RequestTerms, inputAmount: bigint, pricing: RoutePricing): bigint {
  const { minimumAmount, expectedAmount } = terms.destination;
  const belowMinimum = (amount: bigint) =>
    refusal("belowMinimum", terms.requestId, "the fill would be less than the minimum that was promised", {
      amount: amount.toString(),
      minimumAmount: minimumAmount.toString(),
    });
  if (inputAmount === leastDeposit(terms)) {
    const nowMs = services.clock.nowMs();
    const due = payoutOf(services, terms, inputAmount, pricing, { nowMs, depositSeenAtMs: nowMs });
    if (due.kind === "refund") throw belowMinimum(forward(inputAmount, pricing.facts).output);
    return due.amount;
  }
  // The promise was made for the quoted input: a lower one buys what it buys now.
  const { output } = forward(inputAmount, pricing.facts);
  const amount = output < expectedAmount ? output : expectedAmount;
  if (amount < minimumAmount || amount === 0n) throw belowMinimum(amount);
  return amount;
}

/** In kind where app balances are kept in the input's currency, else in their first currency. */
function surplusOf(
  services: Needs,
  { origin }: RequestTerms,
  amount: bigint,
  unit: PricedUnit,
): PricedFastFill["surplus"] {
  const { chainId, currencies } = services.appBalance;
  if (origin.chainId === chainId && currencies.some(({ address }) => address === origin.currency))
    return { asset: { chainId, currency: origin.currency }, amount };
  const [first] = currencies;
  if (first === undefined || amount === 0n)
    return { asset: { chainId, currency: first?.address ?? origin.currency }, amount: 0n };
  const firstUnit = unitInMemory(services, first);
  if (firstUnit instanceof Error) throw firstUnit;
  return {
    asset: { chainId, currency: first.address },
    amount: usdToAmountDown(amountToUsdDown(amount, unit), firstUnit),
  };
}
