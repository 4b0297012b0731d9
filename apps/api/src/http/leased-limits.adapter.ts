import type { Permit } from "./rate-limits.port.ts";

/** Permits of a window, as the common store gave them. */
export interface PermitLease {
  /** Up to as many as were wanted; 0: all of the window are out. */
  readonly granted: number;
  /** Permits of the window that are out, these among them. */
  readonly used: number;
  /** When the window ends, from the moment of the answer. */
  readonly endsInMs: number;
}

/** Takes permits for a process from the store that all processes share. */
export type LeasePermits = (bucket: string, wanted: number, most: number) => Promise<PermitLease>;

export interface LeasedLimitsOptions {
  readonly lease: LeasePermits;
  readonly windowMs: number;
  /** A clock that never goes back, ms. */
  readonly nowMs: () => number;
  readonly onFault: (error: unknown) => void;
}

/** Permits that all processes together give to a bucket in a window. */
export interface LeasedLimits {
  /** Asks for `count` of the `most` permits of the window, all or none. Never throws. */
  take(bucket: string, most: number, count?: number): Permit | Promise<Permit>;
}

interface Bucket {
  /** Permits that this process holds. */
  left: number;
  /** Those given away since the window began. */
  spent: number;
  /** Permits of the window that are out, everywhere. */
  used: number;
  endsAtMs: number;
  isExhausted: boolean;
  /** What to ask for next: little at first, so that a process seldom holds what another could use. */
  chunk: number;
  waiting: number;
  asking: Promise<void> | undefined;
}

/** A process holds back at most this part of a limit. */
const LARGEST_PART = 10;
/** After a fault the store is not asked for so long. */
const PAUSE_MS = 1_000;
const MAX_BUCKETS = 50_000;

/**
 * Limits that hold for all processes together without asking their common store at every call: a process
 * takes permits in growing chunks and gives them away by itself, and forgets what is left when the window
 * ends. While the store is away each process counts alone: the money is guarded elsewhere, and a service that
 * refuses everybody because it cannot count would be the worse outage.
 */
export function leasedLimits(options: LeasedLimitsOptions): LeasedLimits {
  const { lease, nowMs, windowMs } = options;
  const buckets = new Map<string, Bucket>();
  let awayUntilMs = -Infinity;

  const bucketOf = (name: string): Bucket => {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    const fresh: Bucket = { ...NEW_WINDOW, waiting: 0, asking: undefined };
    buckets.set(name, fresh);
    // A map keeps the order in which keys came: the oldest goes first, and what it held back with it.
    const oldest = buckets.size > MAX_BUCKETS ? buckets.keys().next().value : undefined;
    if (oldest !== undefined) buckets.delete(oldest);
    return fresh;
  };

  const ask = async (name: string, bucket: Bucket, most: number): Promise<void> => {
    const askedAtMs = nowMs();
    try {
      if (askedAtMs < awayUntilMs) return countAlone(bucket, most, askedAtMs);
      const wanted = Math.min(most, Math.max(bucket.chunk, bucket.waiting));
      const { granted, used, endsInMs } = await lease(name, wanted, most);
      // From the question on: here the window ends no later than in the store, so that no permit of it is
      // given away in the next.
      bucket.endsAtMs = askedAtMs + endsInMs;
      bucket.left += granted;
      bucket.used = used;
      bucket.isExhausted = granted === 0;
      bucket.chunk = Math.min(bucket.chunk * 2, Math.max(1, Math.floor(most / LARGEST_PART)));
    } catch (error) {
      awayUntilMs = nowMs() + PAUSE_MS;
      options.onFault(error);
      countAlone(bucket, most, askedAtMs);
    }
  };

  const countAlone = (bucket: Bucket, most: number, atMs: number): void => {
    const isOver = atMs >= bucket.endsAtMs;
    if (isOver) bucket.endsAtMs = atMs + windowMs;
    bucket.left = Math.max(0, most - bucket.spent);
    bucket.used = most;
    // Also when a little is left, but less than is asked for.
    bucket.isExhausted = bucket.left < Math.max(1, bucket.waiting);
  };

  /** Undefined: the store must be asked first. */
  const give = (bucket: Bucket, most: number, count: number): Permit | undefined => {
    const endsInMs = bucket.endsAtMs - nowMs();
    if (endsInMs <= 0) {
      Object.assign(bucket, NEW_WINDOW);
      return undefined;
    }
    if (bucket.left >= count) {
      bucket.left -= count;
      bucket.spent += count;
      return { used: Math.min(most, Math.max(1, bucket.used - bucket.left)), endsInMs };
    }
    return bucket.isExhausted ? { used: most + 1, endsInMs } : undefined;
  };

  const wait = async (name: string, bucket: Bucket, most: number, count: number): Promise<Permit> => {
    bucket.waiting += count;
    try {
      for (;;) {
        bucket.asking ??= ask(name, bucket, most).finally(() => {
          bucket.asking = undefined;
        });
        await bucket.asking;
        const permit = give(bucket, most, count);
        if (permit !== undefined) return permit;
      }
    } finally {
      bucket.waiting -= count;
    }
  };

  return {
    take(name, most, count = 1) {
      const bucket = bucketOf(name);
      return give(bucket, most, count) ?? wait(name, bucket, most, count);
    },
  };
}

/** What a window begins with. */
const NEW_WINDOW = { left: 0, spent: 0, used: 0, endsAtMs: -Infinity, isExhausted: false, chunk: 1 };
