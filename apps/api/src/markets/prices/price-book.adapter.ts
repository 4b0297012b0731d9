import { ServiceError } from "@causeway/domain";
import type { Currency, PriceReading } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { PriceBook, PriceSource } from "./price-source.port.ts";

export interface PriceBookOptions {
  readonly source: PriceSource;
  readonly clock: Clock;
  /** Every id that will ever be asked for: they are fetched together. */
  readonly priceIds: readonly string[];
  /**
   * A price fetched longer ago is refreshed in the background when it is used, ms; one fetched
   * {@link STALE_REFRESHES} times as long ago is not used.
   */
  readonly refreshMs: number;
  /** A price that was true longer ago is not used, ms. */
  readonly maxAgeMs: number;
  /**
   * After a failed or doubted fetch the source is left alone for so long, ms: an outage must not become a
   * flood.
   */
  readonly retryMs: number;
  /**
   * A price that moved further than this since the one before is taken only when a later reading is as near
   * to it. Default 2,000 (20 %).
   */
  readonly maxMoveBps?: number;
  /**
   * Told of every failed fetch in the background, which nobody waits for, and of every move that waits for
   * its confirmation.
   */
  readonly onFault: (error: unknown) => void;
}

/** A price book that can be filled before the first quote and ends its fetch when closed. */
export interface OwnedPriceBook extends PriceBook {
  reading(currency: Pick<Currency, "priceId">): PriceReading | undefined;
  lastUsd(currency: Pick<Currency, "priceId">): bigint | undefined;
  /** Age of each price in memory by its source, ms by price id. */
  agesMs(): ReadonlyMap<string, number>;
  /** Fetches now, or joins the fetch under way. @throws ServiceError PRICE_FETCH_FAILED */
  refresh(): Promise<void>;
  close(): void;
}

interface KeptPrice {
  readonly usd: bigint;
  readonly asOfMs: number;
  readonly fetchedAtMs: number;
  readonly isDisputed?: boolean;
  /** Exponentially weighted mean of squared moves per minute, bps². */
  readonly varianceBps?: number;
}

/** Quotes are firm: a price that the market has left behind would be an option given for nothing. */
const STALE_REFRESHES = 3;

/**
 * Prices kept in memory. Fresh ones are answered at once; older ones too, while one fetch for all ids runs;
 * stale ones wait for that fetch. While a move beyond the bound waits for its confirmation, neither the old
 * price nor the new one is answered.
 */
export function createPriceBook(options: PriceBookOptions): OwnedPriceBook {
  const { source, clock, priceIds, refreshMs, maxAgeMs, retryMs, onFault } = options;
  const maxMoveBps = BigInt(options.maxMoveBps ?? 2_000);
  const prices = new Map<string, KeptPrice>();
  /** Readings too far from the price before them. */
  const doubted = new Map<string, KeptPrice>();
  /**
   * Of ids that the newest fetch did not tell; whoever asks for one is told so, and does not make the source
   * be asked again.
   */
  let untold: { readonly errors: ReadonlyMap<string, ServiceError>; readonly atMs: number } | undefined;
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  /** Since when, and why, the source is left alone for a moment. */
  let paused: { readonly atMs: number; readonly error?: unknown } | undefined;

  async function fetchAll(): Promise<void> {
    try {
      const fetched = await source.fetch(priceIds, closing.signal);
      const fetchedAtMs = clock.nowMs();
      paused = undefined;
      // Of a price from the future only its arrival is certain.
      for (const [id, price] of fetched)
        take(id, { ...price, asOfMs: Math.min(price.asOfMs, fetchedAtMs), fetchedAtMs });
      const missing = priceIds.filter((id) => !fetched.has(id));
      untold = {
        errors: new Map(missing.map((id) => [id, unpriced(id, undefined)])),
        atMs: fetchedAtMs,
      };
      if (doubted.size > 0) paused = { atMs: fetchedAtMs };
    } catch (error) {
      paused = { atMs: clock.nowMs(), error };
      throw error;
    }
  }

  const isNear = (usd: bigint, before: bigint): boolean =>
    (usd > before ? usd - before : before - usd) * 10_000n <= before * maxMoveBps;

  function take(id: string, reading: KeptPrice): void {
    const held = prices.get(id);
    const doubt = doubted.get(id);
    // The same reading told again, or an older one, settles no doubt.
    if (doubt !== undefined && reading.asOfMs <= doubt.asOfMs) return;
    const isConfirmed = doubt !== undefined && isNear(reading.usd, doubt.usd);
    if (held === undefined || isNear(reading.usd, held.usd) || isConfirmed) {
      prices.set(id, withVariance(held, reading));
      doubted.delete(id);
      return;
    }
    doubted.set(id, reading);
    onFault(
      new ServiceError(
        "PRICE_FETCH_FAILED",
        `The new price of ${id} differs too much from the last one and is not confirmed by a second source; try again`,
        {
          data: { priceId: id, fromUsd: held.usd.toString(), toUsd: reading.usd.toString() },
        },
      ),
    );
  }

  function refresh(): Promise<void> {
    running ??= fetchAll().finally(() => {
      running = undefined;
    });
    return running;
  }

  const resting = (nowMs: number): boolean => paused !== undefined && nowMs - paused.atMs < retryMs;

  /** The price in memory that is still true enough. */
  function usable(priceId: string, nowMs: number): KeptPrice | undefined {
    const price = prices.get(priceId);
    if (price === undefined || doubted.has(priceId) || nowMs - price.asOfMs > maxAgeMs) return undefined;
    return nowMs - price.fetchedAtMs > refreshMs * STALE_REFRESHES ? undefined : price;
  }

  async function awaited(priceId: string): Promise<bigint> {
    if (running === undefined && resting(clock.nowMs())) throw unpriced(priceId, paused?.error);
    await refresh().catch((error: unknown) => {
      throw unpriced(priceId, error);
    });
    const price = usable(priceId, clock.nowMs());
    if (price === undefined) throw unpriced(priceId, undefined);
    return price.usd;
  }

  function refreshWhenAged(fetchedAtMs: number, nowMs: number): void {
    const isAged = nowMs - fetchedAtMs > refreshMs;
    if (isAged && running === undefined && !resting(nowMs)) refresh().catch(onFault);
  }

  return {
    usd: ({ priceId }) => {
      const nowMs = clock.nowMs();
      const price = usable(priceId, nowMs);
      if (price !== undefined) {
        refreshWhenAged(price.fetchedAtMs, nowMs);
        return price.usd;
      }
      const refused = untold?.errors.get(priceId);
      if (untold !== undefined && refused && nowMs - untold.atMs <= refreshMs * STALE_REFRESHES) {
        refreshWhenAged(untold.atMs, nowMs);
        throw refused;
      }
      const answer = awaited(priceId);
      // Whoever asked for several may have been refused another one, and never look at this.
      answer.catch(() => undefined);
      return answer;
    },
    reading: ({ priceId }) => {
      const price = prices.get(priceId);
      if (price === undefined || source.isFixed === true) return undefined;
      return {
        ageMs: Math.max(0, clock.nowMs() - price.asOfMs),
        volatilityBps: Math.sqrt(price.varianceBps ?? 0),
        ...(price.isDisputed === true && { disputedBy: "second source" }),
      };
    },
    lastUsd: ({ priceId }) => {
      const known = [prices.get(priceId), doubted.get(priceId)].flatMap((price) => price?.usd ?? []);
      return known.reduce<bigint | undefined>(
        (max, usd) => (max === undefined || usd > max ? usd : max),
        undefined,
      );
    },
    agesMs: () => {
      const nowMs = clock.nowMs();
      return new Map(
        [...prices].map(([id, { asOfMs }]) => [id, source.isFixed === true ? 0 : nowMs - asOfMs]),
      );
    },
    refresh,
    close: () => closing.abort(),
  };
}

/** Half of what a move adds to the measured variance is forgotten after so long, ms. */
const VARIANCE_HALF_LIFE_MS = 15 * 60_000;

/** Adds the move since the price before to the measured variance. The same reading again changes nothing. */
function withVariance(before: KeptPrice | undefined, reading: KeptPrice): KeptPrice {
  if (before === undefined) return reading;
  const minutes = (reading.asOfMs - before.asOfMs) / 60_000;
  if (minutes <= 0) return { ...reading, varianceBps: before.varianceBps ?? 0 };
  const moveBps = (Number(reading.usd - before.usd) / Number(before.usd)) * 10_000;
  const kept = 0.5 ** ((minutes * 60_000) / VARIANCE_HALF_LIFE_MS);
  // A lone jump counts at once: it would otherwise be averaged away just when it matters.
  const variance = Math.max((before.varianceBps ?? 0) * kept, moveBps ** 2 / minutes);
  return { ...reading, varianceBps: variance };
}

function unpriced(priceId: string, cause: unknown): ServiceError {
  return new ServiceError("PRICE_FETCH_FAILED", `No fresh price of ${priceId}; try again`, {
    data: { priceId },
    cause,
  });
}
