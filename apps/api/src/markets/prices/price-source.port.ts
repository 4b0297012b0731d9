import type { Currency, PriceReading } from "@causeway/domain";

/** USD per whole unit of a currency. */
export interface UsdPrice {
  /** 18 decimals. */
  readonly usd: bigint;
  /** When the source says the price was true, ms since epoch. */
  readonly asOfMs: number;
  /** Another source contradicts it: good for showing and for gas, not for a pair of different assets. */
  readonly isDisputed?: boolean;
}

/** Fetches prices from somewhere; slow, may fail. One adapter per source. */
export interface PriceSource {
  readonly name: string;
  /** Prices from configuration: they never age. */
  readonly isFixed?: boolean;
  /** Prices by `priceId`; ids without a price are absent. @throws ServiceError PRICE_FETCH_FAILED */
  fetch(priceIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, UsdPrice>>;
}

/** Prices kept in memory, refreshed in the background, single flight, bounded in age. */
export interface PriceBook {
  /**
   * USD per whole unit, 18 decimals. Synchronous when a fresh price is in memory, or it is known that the
   * sources have none: then this throws, otherwise it may reject.
   * @throws ServiceError PRICE_FETCH_FAILED when no price within the staleness bound can be had.
   */
  usd(currency: Currency): bigint | Promise<bigint>;
  /**
   * How far the price in memory can be trusted; undefined when it is exact (configured) or none is in memory.
   */
  reading?(currency: Currency): PriceReading | undefined;
  /**
   * The greatest price in memory, however old or doubted: a bound of risk, never a price to trade at.
   * Undefined: none was ever fetched.
   */
  lastUsd?(currency: Currency): bigint | undefined;
}
