import { ServiceError } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { Clock } from "../../ports/clock.ts";
import type { Events } from "../../ports/events.ts";
import type { PriceBook, PriceSource } from "../../ports/price-source.ts";

export interface PriceBookPolicy {
  /** A price fetched longer ago is refreshed in the background when it is used, ms. */
  readonly refreshMs: number;
  /** A price that was true longer ago is not used, ms. */
  readonly maxAgeMs: number;
}

export interface PriceBookServices {
  readonly clock: Clock;
  readonly events: Pick<Events, "fault">;
  readonly policy: PriceBookPolicy;
}

/** A price book that can be filled before the first quote and whose fetch can be ended. */
export interface OwnedPriceBook extends PriceBook {
  /** Fetches the prices of these currencies, and of all others ever asked for. @throws ServiceError PRICE_FETCH_FAILED */
  load(currencies: readonly Pick<Currency, "priceId">[]): Promise<void>;
  close(): void;
}

interface KeptPrice {
  readonly usd: bigint;
  readonly asOfMs: number;
  readonly fetchedAtMs: number;
}

interface Fetching {
  readonly ids: ReadonlySet<string>;
  readonly done: Promise<void>;
}

/** After a failed fetch the source is left alone for so long: an outage must not become a flood. */
const REST_AFTER_FAULT_MS = 1_000;

/**
 * Prices kept in memory. Fresh ones are answered at once; stale ones too, while a fetch runs; expired and unknown ones wait for that fetch.
 * One fetch runs at a time, and asks for every id that was ever asked for. A failed one is an event.
 */
export function createPriceBook(
  source: PriceSource,
  { clock, events, policy }: PriceBookServices,
): OwnedPriceBook {
  const { refreshMs, maxAgeMs } = policy;
  const prices = new Map<string, KeptPrice>();
  const wanted = new Set<string>();
  const closing = new AbortController();
  let running: Fetching | undefined;
  let failed: { readonly atMs: number; readonly error: unknown } | undefined;

  async function fetchAll(ids: Set<string>): Promise<void> {
    // Begins after the current turn: a quote asks for four prices, one after the other, and they shall travel together.
    await Promise.resolve();
    for (const id of wanted) ids.add(id);
    try {
      const fetched = await source.fetch([...ids], closing.signal);
      const fetchedAtMs = clock.nowMs();
      // Of a price from the future only its arrival is certain.
      for (const [id, { usd, asOfMs }] of fetched)
        prices.set(id, { usd, asOfMs: Math.min(asOfMs, fetchedAtMs), fetchedAtMs });
      failed = undefined;
    } catch (error) {
      failed = { atMs: clock.nowMs(), error };
      if (!closing.signal.aborted) events.fault("price_fault", error, { source: source.name });
      throw error;
    }
  }

  function refresh(): Promise<void> {
    if (running !== undefined) return running.done;
    const ids = new Set<string>();
    const done = fetchAll(ids).finally(() => {
      running = undefined;
    });
    running = { ids, done };
    return done;
  }

  const resting = (nowMs: number): boolean =>
    failed !== undefined && nowMs - failed.atMs < REST_AFTER_FAULT_MS;

  /** The price in memory that is still true enough. */
  function usable(priceId: string, nowMs: number): KeptPrice | undefined {
    const price = prices.get(priceId);
    return price !== undefined && nowMs - price.asOfMs <= maxAgeMs ? price : undefined;
  }

  async function awaited(priceId: string): Promise<bigint> {
    if (running === undefined && resting(clock.nowMs())) throw unpriced(priceId, failed?.error);
    const joined = running;
    try {
      await refresh();
      // A fetch that had left before this id was known does not bring it.
      if (joined !== undefined && !joined.ids.has(priceId)) await refresh();
    } catch (error) {
      throw unpriced(priceId, error);
    }
    const price = usable(priceId, clock.nowMs());
    if (price === undefined) throw unpriced(priceId, undefined);
    return price.usd;
  }

  return {
    usd: ({ priceId }) => {
      wanted.add(priceId);
      const nowMs = clock.nowMs();
      const price = usable(priceId, nowMs);
      if (price === undefined) return awaited(priceId);
      const isStale = nowMs - price.fetchedAtMs > refreshMs;
      if (isStale && running === undefined && !resting(nowMs)) {
        // Nobody waits for it, and its failure is told where it happens.
        refresh().catch(() => undefined);
      }
      return price.usd;
    },
    load: async (currencies) => {
      const joined = running;
      for (const { priceId } of currencies) wanted.add(priceId);
      await refresh();
      if (joined !== undefined && currencies.some(({ priceId }) => !joined.ids.has(priceId))) await refresh();
    },
    close: () => closing.abort(),
  };
}

function unpriced(priceId: string, cause: unknown): ServiceError {
  return new ServiceError("PRICE_FETCH_FAILED", `There is no fresh price of ${priceId}`, {
    data: { priceId },
    cause,
  });
}
