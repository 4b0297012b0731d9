import type { ChainProfile, Currency, PricedUnit } from "@causeway/domain";
import { amountToUsdDown, ServiceError } from "@causeway/domain";
import type { AnyConnectedChain } from "../chains/chains.port.ts";
import {
  aboveMaxFill,
  amountText,
  inputOutOfRange,
  insufficientLiquidity,
  restrictedChain,
} from "../http/refusals.ts";
import { isBeyondCap, type RoutePricing } from "../markets/index.ts";
import type { Reservations } from "../markets/quote.port.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import { refuseTinySwap } from "./minimum-swap.ts";
import type { Side } from "./sides/side.ts";

/**
 * A route as the solver sees it: `originCurrency` is deposited, and the solver pays with
 * `destinationCurrency`.
 */
export interface SolverRoute extends Pick<QuoteQuestion, "origin" | "destination" | "from" | "to"> {
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
}

/**
 * @param trade the deposit, and what the solver needs for the fill
 * @throws ServiceError when the trade exceeds the current limits of this instance or of a chain
 */
export function refuseBeyondLimits(
  reservations: Reservations,
  route: SolverRoute,
  pricing: RoutePricing,
  trade: { readonly input: bigint; readonly expected: bigint },
): void {
  const { origin, destination, from, to, originCurrency, destinationCurrency } = route;
  const { facts } = pricing;
  refuseBeyondCap(origin, trade.input, facts.origin, pricing.originNative, "originChainId");
  refuseBeyondCap(
    destination,
    trade.expected,
    facts.destination,
    facts.destinationNative,
    "destinationChainId",
    facts.topupWei,
  );
  refuseDust(origin, from, originCurrency, trade.input, "a deposit");
  refuseDust(destination, to, destinationCurrency, trade.expected, "a payment");
  if (origin === destination && pricing.pairClass !== "wrap" && pricing.pairClass !== "sameAsset")
    refuseTinySwap(amountToUsdDown(trade.input, facts.origin), {
      unit: facts.origin,
      currency: originCurrency,
    });
  if (trade.input >> from.amountBits !== 0n) throw inputOutOfRange(originCurrency);

  const { maxFillAmount } = destinationCurrency;
  if (maxFillAmount !== undefined && trade.expected > maxFillAmount)
    throw aboveMaxFill(destinationCurrency, maxFillAmount);
  const { native } = destination.chain;
  refuseLargeTopup(native, facts.topupWei);
  const available = availableOf(reservations, destination, destinationCurrency);
  const cost = facts.fillGasCostWei;
  if (destinationCurrency.address === native.address) {
    // The fill pays its own cost from the same balance.
    if (trade.expected + cost > available) throw insufficientLiquidity(destinationCurrency, available - cost);
    return;
  }
  if (trade.expected > available) throw insufficientLiquidity(destinationCurrency, available);
  if (availableOf(reservations, destination, native) < cost)
    throw new ServiceError(
      "INSUFFICIENT_LIQUIDITY",
      `Insufficient liquidity: the solver lacks ${native.symbol} for ${to.fillCostPhrase} on ${destination.chain.displayName}`,
      { field: "destinationChainId" },
    );
}

/** The top-up counts against the limit of the native token, regardless of the output. */
function refuseLargeTopup(native: Currency, topupWei: bigint | undefined): void {
  const { maxFillAmount } = native;
  if (topupWei === undefined || maxFillAmount === undefined || topupWei <= maxFillAmount) return;
  throw new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `topupGasAmount must be worth at most ${amountText(maxFillAmount, native)}, but is worth ${amountText(topupWei, native)}`,
    { field: "topupGasAmount", data: { available: maxFillAmount.toString() } },
  );
}

/**
 * @throws ServiceError ROUTE_TEMPORARILY_RESTRICTED when the chain is partially disabled and the amount is
 * worth more than its cap
 */
export function refuseBeyondCap(
  { chain }: { readonly chain: ChainProfile },
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  field: string,
  nativeAmount = 0n,
): void {
  if (!isBeyondCap(chain, amount, currency, native, nativeAmount)) return;
  throw restrictedChain(chain, field);
}

function refuseDust(
  { chain }: AnyConnectedChain,
  { minPayment }: Side,
  currency: Currency,
  amount: bigint,
  what: "a deposit" | "a payment",
): void {
  if (amount >= minPayment) return;
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: ${what} on ${chain.displayName} must be at least ${amountText(minPayment, currency)}, got ${amount}`,
    { field: "amount", data: { minimumAmount: minPayment.toString() } },
  );
}

function availableOf(
  reservations: Reservations,
  { chain, pulse }: AnyConnectedChain,
  { address }: Currency,
): bigint {
  return pulse.solverBalance(address).amount - reservations.reserved(chain.id, address);
}
