import { ServiceError } from "@causeway/domain";
import type { Clock } from "../../ports/clock.ts";
import type { PriceBook, PriceSource } from "../../ports/price-source.ts";

export interface PriceBookOptions {
  readonly source: PriceSource;
  readonly clock: Clock;
  /** Every id that will ever be asked for: they are fetched together. */
  readonly priceIds: readonly string[];
  /** A price fetched longer ago is refreshed in the background when it is used, ms. */
  readonly refreshMs: number;
  /** A price that was true longer ago is not used, ms. */
  readonly maxAgeMs: number;
  /** After a failed fetch the source is left alone for so long, ms. */
  readonly retryMs: number;
  /** Told of every failed fetch; nobody waits for those in the background. */
  readonly onFault: (error: unknown) => void;
}

/** A price book that can be filled before the first quote and ends its fetch when closed. */
export interface OwnedPriceBook extends PriceBook {
  /** Fetches now. @throws ServiceError PRICE_FETCH_FAILED */
  refresh(): Promise<void>;
  close(): void;
}

/** Prices kept in memory. Fresh ones are answered at once; stale ones too, while one fetch for all ids runs; expired ones wait for that fetch. */
export function createPriceBook(options: PriceBookOptions): OwnedPriceBook {
  const { source, clock, priceIds, refreshMs, maxAgeMs, retryMs, onFault } = options;
  const prices = new Map<
    string,
    { readonly usd: bigint; readonly asOfMs: number; readonly fetchedAtMs: number }
  >();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let failed: { readonly atMs: number; readonly error: unknown } | undefined;

  async function fetchAll(): Promise<void> {
    try {
      const fetched = await source.fetch(priceIds, closing.signal);
      const fetchedAtMs = clock.nowMs();
      // Of a price from the future only its arrival is certain.
      for (const [id, { usd, asOfMs }] of fetched)
        prices.set(id, { usd, asOfMs: Math.min(asOfMs, fetchedAtMs), fetchedAtMs });
      failed = undefined;
    } catch (error) {
      failed = { atMs: clock.nowMs(), error };
      throw error;
    }
  }

  function refresh(): Promise<void> {
    running ??= fetchAll().finally(() => {
      running = undefined;
    });
    return running;
  }

  function resting(nowMs: number): boolean {
    return failed !== undefined && nowMs - failed.atMs < retryMs;
  }

  /** The price in memory that is still true enough. */
  function usable(priceId: string, nowMs: number): bigint | undefined {
    const price = prices.get(priceId);
    return price !== undefined && nowMs - price.asOfMs <= maxAgeMs ? price.usd : undefined;
  }

  async function awaited(priceId: string): Promise<bigint> {
    const nowMs = clock.nowMs();
    if (running === undefined && resting(nowMs)) throw unpriced(priceId, failed?.error);
    await refresh().catch((error: unknown) => {
      throw unpriced(priceId, error);
    });
    const usd = usable(priceId, clock.nowMs());
    if (usd === undefined) throw unpriced(priceId, undefined);
    return usd;
  }

  return {
    usd: (currency) => {
      const nowMs = clock.nowMs();
      const usd = usable(currency.priceId, nowMs);
      if (usd === undefined) return awaited(currency.priceId);
      const fetchedAtMs = prices.get(currency.priceId)?.fetchedAtMs ?? 0;
      if (nowMs - fetchedAtMs > refreshMs && running === undefined && !resting(nowMs))
        refresh().catch(onFault);
      return usd;
    },
    refresh,
    close: () => closing.abort(),
  };
}

function unpriced(priceId: string, cause: unknown): ServiceError {
  return new ServiceError("PRICE_FETCH_FAILED", `There is no fresh price of ${priceId}`, {
    data: { priceId },
    cause,
  });
}
