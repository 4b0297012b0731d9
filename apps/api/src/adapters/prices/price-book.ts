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
  /** After a failed fetch the source is left alone for so long, ms: an outage must not become a flood. */
  readonly retryMs: number;
  /** Told of every failed fetch in the background, which nobody waits for. */
  readonly onFault: (error: unknown) => void;
}

/** A price book that can be filled before the first quote and ends its fetch when closed. */
export interface OwnedPriceBook extends PriceBook {
  /** Fetches now, or joins the fetch under way. @throws ServiceError PRICE_FETCH_FAILED */
  refresh(): Promise<void>;
  close(): void;
}

interface KeptPrice {
  readonly usd: bigint;
  readonly asOfMs: number;
  readonly fetchedAtMs: number;
}

/** Prices kept in memory. Fresh ones are answered at once; stale ones too, while one fetch for all ids runs; expired ones wait for that fetch. */
export function createPriceBook(options: PriceBookOptions): OwnedPriceBook {
  const { source, clock, priceIds, refreshMs, maxAgeMs, retryMs, onFault } = options;
  const prices = new Map<string, KeptPrice>();
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

  const resting = (nowMs: number): boolean => failed !== undefined && nowMs - failed.atMs < retryMs;

  /** The price in memory that is still true enough. */
  function usable(priceId: string, nowMs: number): KeptPrice | undefined {
    const price = prices.get(priceId);
    return price !== undefined && nowMs - price.asOfMs <= maxAgeMs ? price : undefined;
  }

  async function awaited(priceId: string): Promise<bigint> {
    if (running === undefined && resting(clock.nowMs())) throw unpriced(priceId, failed?.error);
    await refresh().catch((error: unknown) => {
      throw unpriced(priceId, error);
    });
    const price = usable(priceId, clock.nowMs());
    if (price === undefined) throw unpriced(priceId, undefined);
    return price.usd;
  }

  return {
    usd: ({ priceId }) => {
      const nowMs = clock.nowMs();
      const price = usable(priceId, nowMs);
      if (price === undefined) return awaited(priceId);
      const isStale = nowMs - price.fetchedAtMs > refreshMs;
      if (isStale && running === undefined && !resting(nowMs)) refresh().catch(onFault);
      return price.usd;
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
