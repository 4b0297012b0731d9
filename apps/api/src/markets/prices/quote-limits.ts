import type { Chain, Currency } from "@causeway/domain";
import {
  amountToUsdDown,
  convertUp,
  formatUsd,
  NATIVE_CURRENCY,
  ServiceError,
  usdToAmountUp,
} from "@causeway/domain";
import type { PricedUnit } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { Reservations } from "../quote.port.ts";
import type { Route, RoutePricing } from "./quote-pricing.ts";
import {
  aboveMaxFill,
  inputOutOfRange,
  insufficientLiquidity,
  amountText,
  restrictedChain,
} from "../../http/refusals.ts";

/** $0.05: swaps on one chain below it are not worth serving. */
const MIN_SWAP_USD = 50_000_000_000_000_000n;

/**
 * @param route from what is deposited to what the solver pays with; `trade` likewise: the deposit, and what
 * the solver needs for the fill
 * @throws ServiceError when the trade exceeds the current limits of this instance
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
    refuseTinySwap(amountToUsdDown(trade.input, facts.origin), {
      unit: facts.origin,
      currency: originCurrency,
    });
  if (trade.input >> 256n !== 0n) throw inputOutOfRange(originCurrency);

  const { maxFillAmount } = destinationCurrency;
  if (maxFillAmount !== undefined && trade.expected > maxFillAmount)
    throw aboveMaxFill(destinationCurrency, maxFillAmount);
  refuseLargeTopup(destination.chain.native, facts.topupWei);
  const available = availableOf(reservations, destination, destinationCurrency);
  if (destinationCurrency.address === NATIVE_CURRENCY) {
    // The fill pays its own gas from the same balance.
    if (trade.expected + facts.fillGasCostWei > available)
      throw insufficientLiquidity(destinationCurrency, available - facts.fillGasCostWei);
    return;
  }
  if (trade.expected > available) throw insufficientLiquidity(destinationCurrency, available);
  if (availableOf(reservations, destination, destination.chain.native) < facts.fillGasCostWei)
    throw new ServiceError(
      "INSUFFICIENT_LIQUIDITY",
      `Insufficient liquidity: the solver lacks ${destination.chain.native.symbol} for the gas of a fill on ${destination.chain.displayName}`,
      { field: "destinationChainId" },
    );
}

/** The native token counts against its own limit, whatever the output is. */
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
 * @param inputUsd USD with 18 decimals
 * @param input the input currency, if it has a price: the error then names the minimum amount
 * @throws ServiceError AMOUNT_TOO_LOW for a swap on one chain below the minimum
 */
export function refuseTinySwap(
  inputUsd: bigint,
  input?: { readonly unit: PricedUnit; readonly currency: Currency },
): void {
  if (inputUsd >= MIN_SWAP_USD) return;
  // A price below its own precision is zero, and has no minimum amount.
  const minimum =
    input === undefined || input.unit.priceUsd === 0n
      ? ""
      : `, which is ${amountText(usdToAmountUp(MIN_SWAP_USD, input.unit), input.currency)}`;
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: the input of a swap on one chain must be worth at least $0.05${minimum}, got $${formatUsd(inputUsd)}`,
    { field: "amount" },
  );
}

/**
 * Whether the amount exceeds the cap of a partially disabled chain.
 * @param nativeAmount native token that moves in addition, wei
 */
export function isBeyondCap(
  { partialDisableLimit: limit }: Pick<Chain, "partialDisableLimit">,
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  nativeAmount = 0n,
): boolean {
  // An unpriced amount may be worth more than any cap.
  const isKnown = currency.priceUsd > 0n;
  return limit !== 0n && !(isKnown && convertUp(amount, currency, native) + nativeAmount <= limit);
}

/**
 * @throws ServiceError ROUTE_TEMPORARILY_RESTRICTED when the chain is partially disabled and the amount is
 * worth more than its cap
 */
export function refuseBeyondCap(
  { chain }: ConnectedChain,
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  field: string,
  nativeAmount = 0n,
): void {
  if (!isBeyondCap(chain, amount, currency, native, nativeAmount)) return;
  throw restrictedChain(chain, field);
}

function availableOf(
  reservations: Reservations,
  { chain, pulse }: ConnectedChain,
  currency: Currency,
): bigint {
  return pulse.solverBalance(currency.address).amount - reservations.reserved(chain.id, currency.address);
}
