import type { Currency, PriceReading } from "@causeway/domain";

/** USD per whole unit of a currency. */
export interface UsdPrice {
  /** 18 decimals. */
  readonly usd: bigint;
  /** The source's timestamp of the price, ms since epoch. */
  readonly asOfMs: number;
  /** Another source contradicts it: usable for display and gas, not for a pair of different assets. */
  readonly isDisputed?: boolean;
}

/** Fetches prices from an external source; slow, may fail. One adapter per source. */
export interface PriceSource {
  readonly name: string;
  /** Prices from configuration: they never age. */
  readonly isFixed?: boolean;
  /** Prices by `priceId`; ids without a price are absent. @throws ServiceError PRICE_FETCH_FAILED */
  fetch(priceIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, UsdPrice>>;
}

/** Cached prices: refreshed in the background by one fetch at a time, with a maximum age. */
export interface PriceBook {
  /**
   * USD per whole unit, 18 decimals. Synchronous when a fresh price is cached or known to be missing (then it
   * throws); otherwise it may reject.
   * @throws ServiceError PRICE_FETCH_FAILED when no recent enough price is available
   */
  usd(currency: Currency): bigint | Promise<bigint>;
  /** How far the cached price can be trusted; undefined when it is exact (configured) or missing. */
  reading?(currency: Currency): PriceReading | undefined;
  /**
   * The highest price in memory, however old or suspicious: for risk limits, never for trades. Undefined:
   * none was ever fetched.
   */
  lastUsd?(currency: Currency): bigint | undefined;
}
