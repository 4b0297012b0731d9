import { ServiceError } from "@causeway/domain";
import type { Currency, PriceReading } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { PriceBook, PriceSource } from "./price-source.port.ts";

export interface PriceBookOptions {
  readonly source: PriceSource;
  readonly clock: Clock;
  /** All ids that can be requested. They are fetched together. */
  readonly priceIds: readonly string[];
  /**
   * A price that was fetched longer ago is refreshed in the background when it is used, ms. After {@link
   * STALE_REFRESHES} times as long, it is not used.
   */
  readonly refreshMs: number;
  /** A price with an older timestamp of the source is not used, ms. */
  readonly maxAgeMs: number;
  /** Pause after a failed or suspicious fetch, ms: an outage must not cause a flood of requests. */
  readonly retryMs: number;
  /**
   * A larger move from the previous price is accepted only if a later reading is within this distance of the
   * new price. Default 2,000 (20 %).
   */
  readonly maxMoveBps?: number;
  /** Receives failed background fetches, and each move that waits for confirmation. */
  readonly onFault: (error: unknown) => void;
}

/** A price book that can be filled before the first quote and aborts its fetch when closed. */
export interface OwnedPriceBook extends PriceBook {
  reading(currency: Pick<Currency, "priceId">): PriceReading | undefined;
  lastUsd(currency: Pick<Currency, "priceId">): bigint | undefined;
  /** Age of each cached price by the timestamp of its source, ms by price id. */
  agesMs(): ReadonlyMap<string, number>;
  /** Fetches now, or joins the running fetch. @throws ServiceError PRICE_FETCH_FAILED */
  refresh(): Promise<void>;
  close(): void;
}

interface CachedPrice {
  readonly usd: bigint;
  readonly asOfMs: number;
  readonly fetchedAtMs: number;
  readonly isDisputed?: boolean;
  /** Exponentially weighted mean of squared moves per minute, bps². */
  readonly varianceBps?: number;
}

/** A multiple of `refreshMs`. Quotes are firm, so an outdated price would be a free option for clients. */
const STALE_REFRESHES = 3;

/**
 * Prices cached in memory. Fresh prices are returned synchronously. Aging prices are returned too, while one
 * fetch refreshes all ids. Callers of stale prices wait for that fetch. While a large move waits for
 * confirmation, neither the old nor the new price is returned.
 */
export function createPriceBook(options: PriceBookOptions): OwnedPriceBook {
  const { source, clock, priceIds, refreshMs, maxAgeMs, retryMs, onFault } = options;
  const maxMoveBps = BigInt(options.maxMoveBps ?? 2_000);
  const prices = new Map<string, CachedPrice>();
  /** Readings that are too far from the previous price and wait for confirmation. */
  const doubted = new Map<string, CachedPrice>();
  /**
   * Errors for ids that the newest fetch did not return. Callers get the error without causing another fetch.
   */
  let lastMissing: { readonly errors: ReadonlyMap<string, ServiceError>; readonly atMs: number } | undefined;
  const closing = new AbortController();
  let currentFetch: Promise<void> | undefined;
  /** When and why fetching was paused. */
  let paused: { readonly atMs: number; readonly error?: unknown } | undefined;

  async function fetchAll(): Promise<void> {
    try {
      const fetched = await source.fetch(priceIds, closing.signal);
      const fetchedAtMs = clock.nowMs();
      paused = undefined;
      // A timestamp in the future is replaced with the time of the fetch.
      for (const [id, price] of fetched)
        acceptReading(id, { ...price, asOfMs: Math.min(price.asOfMs, fetchedAtMs), fetchedAtMs });
      const missing = priceIds.filter((id) => !fetched.has(id));
      lastMissing = {
        errors: new Map(missing.map((id) => [id, missingPrice(id, undefined)])),
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

  function acceptReading(id: string, reading: CachedPrice): void {
    const current = prices.get(id);
    const doubt = doubted.get(id);
    // A repeated or older reading confirms nothing.
    if (doubt !== undefined && reading.asOfMs <= doubt.asOfMs) return;
    const isConfirmed = doubt !== undefined && isNear(reading.usd, doubt.usd);
    if (current === undefined || isNear(reading.usd, current.usd) || isConfirmed) {
      prices.set(id, withVariance(current, reading));
      doubted.delete(id);
      return;
    }
    doubted.set(id, reading);
    onFault(
      new ServiceError(
        "PRICE_FETCH_FAILED",
        `The new price of ${id} differs too much from the last one and is not confirmed by a second reading; try again`,
        {
          data: { priceId: id, fromUsd: current.usd.toString(), toUsd: reading.usd.toString() },
        },
      ),
    );
  }

  function refresh(): Promise<void> {
    currentFetch ??= fetchAll().finally(() => {
      currentFetch = undefined;
    });
    return currentFetch;
  }

  const isPaused = (nowMs: number): boolean => paused !== undefined && nowMs - paused.atMs < retryMs;

  /** The cached price, if it is recent enough. */
  function usablePrice(priceId: string, nowMs: number): CachedPrice | undefined {
    const price = prices.get(priceId);
    if (price === undefined || doubted.has(priceId) || nowMs - price.asOfMs > maxAgeMs) return undefined;
    return nowMs - price.fetchedAtMs > refreshMs * STALE_REFRESHES ? undefined : price;
  }

  async function awaitPrice(priceId: string): Promise<bigint> {
    if (currentFetch === undefined && isPaused(clock.nowMs())) throw missingPrice(priceId, paused?.error);
    await refresh().catch((error: unknown) => {
      throw missingPrice(priceId, error);
    });
    const price = usablePrice(priceId, clock.nowMs());
    if (price === undefined) throw missingPrice(priceId, undefined);
    return price.usd;
  }

  function refreshWhenAged(fetchedAtMs: number, nowMs: number): void {
    const isAged = nowMs - fetchedAtMs > refreshMs;
    if (isAged && currentFetch === undefined && !isPaused(nowMs)) refresh().catch(onFault);
  }

  return {
    usd: ({ priceId }) => {
      const nowMs = clock.nowMs();
      const price = usablePrice(priceId, nowMs);
      if (price !== undefined) {
        refreshWhenAged(price.fetchedAtMs, nowMs);
        return price.usd;
      }
      const missingError = lastMissing?.errors.get(priceId);
      if (
        lastMissing !== undefined &&
        missingError &&
        nowMs - lastMissing.atMs <= refreshMs * STALE_REFRESHES
      ) {
        refreshWhenAged(lastMissing.atMs, nowMs);
        throw missingError;
      }
      const answer = awaitPrice(priceId);
      // A caller that reads several prices may fail on another price and never await this promise.
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
      const cachedUsd = [prices.get(priceId), doubted.get(priceId)].flatMap((price) => price?.usd ?? []);
      return cachedUsd.reduce<bigint | undefined>(
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

/** Half-life of a move's contribution to the measured variance, ms. */
const VARIANCE_HALF_LIFE_MS = 15 * 60_000;

/** Adds the move since the previous price to the measured variance. A repeated reading changes nothing. */
function withVariance(before: CachedPrice | undefined, reading: CachedPrice): CachedPrice {
  if (before === undefined) return reading;
  const minutes = (reading.asOfMs - before.asOfMs) / 60_000;
  if (minutes <= 0) return { ...reading, varianceBps: before.varianceBps ?? 0 };
  const moveBps = (Number(reading.usd - before.usd) / Number(before.usd)) * 10_000;
  const decay = 0.5 ** ((minutes * 60_000) / VARIANCE_HALF_LIFE_MS);
  // A single jump counts in full at once: averaging would hide it when it matters most.
  const variance = Math.max((before.varianceBps ?? 0) * decay, moveBps ** 2 / minutes);
  return { ...reading, varianceBps: variance };
}

function missingPrice(priceId: string, cause: unknown): ServiceError {
  return new ServiceError("PRICE_FETCH_FAILED", `No fresh price of ${priceId}; try again`, {
    data: { priceId },
    cause,
  });
}
