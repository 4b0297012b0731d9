import type { Currency, PriceDoubt, PriceReading } from "@causeway/domain";
import { priceDoubt, ServiceError, unreachable } from "@causeway/domain";
import type { PriceBook } from "./price-source.port.ts";
import type { QuotePolicy } from "../quote-policy.port.ts";

/** Prices and their maximum age. */
export interface PriceServices {
  readonly prices: PriceBook;
  readonly quotePolicy: Pick<QuotePolicy, "maxVolatilePriceAgeMs">;
}

/** The reading of a configured price, which is exact. */
const EXACT: PriceReading = { ageMs: 0, volatilityBps: 0 };

/** The age and volatility of the cached price, which determine how far it can be trusted. */
export function readingOf(prices: PriceBook, currency: Currency): PriceReading {
  return prices.reading?.(currency) ?? EXACT;
}

/** The error to throw if the cached price must not determine amounts; otherwise undefined. */
export function doubtOf(
  { prices, quotePolicy: { maxVolatilePriceAgeMs } }: PriceServices,
  currency: Currency,
): ServiceError | undefined {
  const doubt = priceDoubt(currency, readingOf(prices, currency), maxVolatilePriceAgeMs);
  return doubt && doubtError(doubt, maxVolatilePriceAgeMs);
}

export function doubtError(doubt: PriceDoubt, maxVolatilePriceAgeMs: number): ServiceError {
  const { priceId } = doubt;
  const message = doubtText(doubt, maxVolatilePriceAgeMs);
  return new ServiceError("PRICE_FETCH_FAILED", message, { data: { priceId } });
}

function doubtText(doubt: PriceDoubt, maxVolatilePriceAgeMs: number): string {
  const { priceId } = doubt;
  switch (doubt.kind) {
    case "disputed":
      return `The price of ${priceId} is contradicted by a ${doubt.by}; try again later`;
    case "tooOld":
      return `The price of ${priceId} is ${Math.round(doubt.ageMs / 1000)} s old; between different assets it must be at most ${maxVolatilePriceAgeMs / 1000} s old; try again`;
    case "tooVolatile":
      return `The price of ${priceId} is too volatile: for a price of this age, the service would have to charge ${doubt.spreadBps / 100} % more; try again later`;
    default:
      return unreachable(doubt);
  }
}
