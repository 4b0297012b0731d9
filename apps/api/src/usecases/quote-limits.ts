import type { Chain, Currency } from "@causeway/domain";
import { formatAmount, amountToUsdDown, convertUp, NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { PricedUnit } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Reservations } from "../ports/quote.ts";
import type { Route, RoutePricing } from "./quote-pricing.ts";

/** $0.05: a swap on one chain below it is worth less than the trouble. */
const LEAST_SWAP_USD = 50_000_000_000_000_000n;

/**
 * @param route from what is deposited to what the solver pays with; `trade` likewise: the deposit, and what the solver needs for the fill
 * @throws ServiceError when the trade is larger or smaller than this instance serves now.
 */
export function refuseBeyondLimits(
  reservations: Reservations,
  route: Route,
  pricing: RoutePricing,
  trade: { readonly input: bigint; readonly expected: bigint },
): void {
  const { origin, destination, originCurrency, destinationCurrency } = route;
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
  if (origin === destination && pricing.pairClass !== "wrap" && pricing.pairClass !== "sameAsset")
    refuseTinySwap(amountToUsdDown(trade.input, facts.origin));
  if (trade.input >> 256n !== 0n)
    throw new ServiceError("INVALID_REQUEST", `No amount of ${originCurrency.symbol} buys that much`, {
      field: "amount",
    });

  const { maxFillAmount } = destinationCurrency;
  if (maxFillAmount !== undefined && trade.expected > maxFillAmount)
    throw tooMuch(destinationCurrency, maxFillAmount, "One request can get");
  refuseLargeTopup(destination.chain.native, facts.topupWei);
  const available = availableOf(reservations, destination, destinationCurrency);
  if (destinationCurrency.address === NATIVE_CURRENCY) {
    // The fill pays its own gas from the same balance.
    if (trade.expected + facts.fillGasCostWei > available)
      throw tooMuch(destinationCurrency, available - facts.fillGasCostWei, "The solver has");
    return;
  }
  if (trade.expected > available) throw tooMuch(destinationCurrency, available, "The solver has");
  if (availableOf(reservations, destination, destination.chain.native) < facts.fillGasCostWei)
    throw new ServiceError(
      "INSUFFICIENT_LIQUIDITY",
      `The solver lacks the gas for a fill on ${destination.chain.displayName}`,
      { field: "destinationChainId" },
    );
}

/** The native token counts against its own limit, whatever the output is. */
function refuseLargeTopup({ symbol, maxFillAmount }: Currency, topupWei: bigint | undefined): void {
  if (topupWei === undefined || maxFillAmount === undefined || topupWei <= maxFillAmount) return;
  throw new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `topupGasAmount is worth ${topupWei} base units of ${symbol}; the limit is ${maxFillAmount}. Lower topupGasAmount`,
    { field: "topupGasAmount", data: { available: maxFillAmount.toString() } },
  );
}

/**
 * @param inputUsd USD with 18 decimals
 * @throws ServiceError AMOUNT_TOO_LOW for an exchange on one chain that is worth next to nothing
 */
export function refuseTinySwap(inputUsd: bigint): void {
  if (inputUsd < LEAST_SWAP_USD)
    throw new ServiceError("AMOUNT_TOO_LOW", "Swaps on one chain start at $0.05", { field: "amount" });
}

/**
 * Whether a chain that is partially disabled is not to move so much.
 * @param nativeAmount native token that moves in addition, wei
 */
export function isBeyondCap(
  { partialDisableLimit: limit }: Pick<Chain, "partialDisableLimit">,
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  nativeAmount = 0n,
): boolean {
  // What nobody has a price for may be worth more than any cap.
  const isKnown = currency.priceUsd > 0n;
  return limit !== 0n && !(isKnown && convertUp(amount, currency, native) + nativeAmount <= limit);
}

/** @throws ServiceError ROUTE_TEMPORARILY_RESTRICTED when the chain is partially disabled and the amount is worth more than its cap. */
export function refuseBeyondCap(
  { chain }: ConnectedChain,
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  field: string,
  nativeAmount = 0n,
): void {
  if (!isBeyondCap(chain, amount, currency, native, nativeAmount)) return;
  throw new ServiceError(
    "ROUTE_TEMPORARILY_RESTRICTED",
    `${chain.displayName} is restricted for now to requests of a limited value`,
    { field, data: { partialDisableLimit: chain.partialDisableLimit.toString() } },
  );
}

function availableOf(
  reservations: Reservations,
  { chain, pulse }: ConnectedChain,
  currency: Currency,
): bigint {
  return pulse.solverBalance(currency.address).amount - reservations.reserved(chain.id, currency.address);
}

function tooMuch(currency: Currency, most: bigint, who: string): ServiceError {
  const available = most > 0n ? most : 0n;
  return new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `${who} at most ${formatAmount(available, currency.decimals)} ${currency.symbol} (${available} base units)`,
    { field: "amount", data: { available: available.toString() } },
  );
}
