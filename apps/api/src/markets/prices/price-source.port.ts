import type { Currency, PriceReading } from "@causeway/domain";

/** A price from a source. */
export interface UsdPrice {
  /** USD per whole unit, 18 decimals. */
  readonly usd: bigint;
  /** The source's timestamp of the price, ms since epoch. */
  readonly asOfMs: number;
  /** Another source does not confirm the price: usable for display and gas, not between different assets. */
  readonly isDisputed?: boolean;
}

/** Fetches prices from an external source; slow, may fail. One adapter per source. */
export interface PriceSource {
  readonly name: string;
  /** Whether the prices come from the configuration and never age. */
  readonly isFixed?: boolean;
  /** Prices by `priceId`; ids without a price are absent. @throws ServiceError PRICE_FETCH_FAILED */
  fetch(priceIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, UsdPrice>>;
}

/** Cached prices: refreshed in the background by one fetch at a time, with a maximum age. */
export interface PriceBook {
  /**
   * USD per whole unit, 18 decimals. Returns a cached fresh price, or throws if the price is known to be
   * missing; otherwise returns a promise, which may reject.
   * @throws ServiceError PRICE_FETCH_FAILED when no recent enough price is available
   */
  usd(currency: Currency): bigint | Promise<bigint>;
  /** Age and volatility of the cached price. Undefined if the price is exact (configured) or missing. */
  reading?(currency: Currency): PriceReading | undefined;
  /**
   * The highest cached price, regardless of age and disputes: for risk limits, never for trades. Undefined:
   * no price was ever fetched.
   */
  lastUsd?(currency: Currency): bigint | undefined;
}
