import type { QuotaUse } from "./rate-limits.port.ts";

/** Units of a window that the shared store granted. */
export interface QuotaLease {
  /** Granted units, at most as many as requested. 0: the window has no units left. */
  readonly granted: number;
  /** Units of the window that were granted so far, including `granted`. */
  readonly used: number;
  /** When the window ends, counted from the answer. */
  readonly endsInMs: number;
}

/** Requests units for this process from the store that all processes share. */
export type LeaseQuota = (bucket: string, requested: number, limit: number) => Promise<QuotaLease>;

export interface LeasedLimitsOptions {
  readonly lease: LeaseQuota;
  readonly windowMs: number;
  /** Monotonic clock, ms. */
  readonly nowMs: () => number;
  readonly onFault: (error: unknown) => void;
}

/** The quota of a bucket per window, shared by all processes. */
export interface LeasedLimits {
  /** Requests `count` of the `limit` units of the window, all or none. Never throws. */
  take(bucket: string, limit: number, count?: number): QuotaUse | Promise<QuotaUse>;
}

interface Bucket {
  /** Units that this process was granted and has not used. */
  unused: number;
  /** Units that this process used since the window began. */
  spent: number;
  /** Units of the window granted to all processes. */
  used: number;
  endsAtMs: number;
  isExhausted: boolean;
  /**
   * How many units to request next: few at first, so that a process rarely holds units that another process
   * needs.
   */
  chunk: number;
  /** Units that calls wait for. */
  waiting: number;
  /** The request to the store in progress, if any. */
  leaseRequest: Promise<void> | undefined;
}

/** A process holds at most a tenth of a limit. */
const MAX_PART_DIVISOR = 10;
/** Pause before asking the store again after an error. */
const PAUSE_MS = 1_000;
const MAX_BUCKETS = 50_000;

/**
 * Limits that all processes share without asking the store on every call: a process requests units in growing
 * chunks, uses them locally, and drops the rest when the window ends. While the store is unavailable, each
 * process counts alone: funds are protected elsewhere, and refusing all clients would be a worse outage.
 */
export function leasedLimits(options: LeasedLimitsOptions): LeasedLimits {
  const { lease, nowMs, windowMs } = options;
  const buckets = new Map<string, Bucket>();
  let unavailableUntilMs = -Infinity;

  const bucketOf = (name: string): Bucket => {
    const existing = buckets.get(name);
    if (existing !== undefined) return existing;
    const fresh: Bucket = { ...NEW_WINDOW, waiting: 0, leaseRequest: undefined };
    buckets.set(name, fresh);
    // A map keeps insertion order: drop the oldest bucket and the units that it held.
    const oldest = buckets.size > MAX_BUCKETS ? buckets.keys().next().value : undefined;
    if (oldest !== undefined) buckets.delete(oldest);
    return fresh;
  };

  const requestLease = async (name: string, bucket: Bucket, limit: number): Promise<void> => {
    const requestedAtMs = nowMs();
    try {
      if (requestedAtMs < unavailableUntilMs) return countAlone(bucket, limit, requestedAtMs);
      const requested = Math.min(limit, Math.max(bucket.chunk, bucket.waiting));
      const { granted, used, endsInMs } = await lease(name, requested, limit);
      // Counted from the request: the window ends here no later than in the store, so that no unit leaks
      // into the next window.
      bucket.endsAtMs = requestedAtMs + endsInMs;
      bucket.unused += granted;
      bucket.used = used;
      bucket.isExhausted = granted === 0;
      bucket.chunk = Math.min(bucket.chunk * 2, Math.max(1, Math.floor(limit / MAX_PART_DIVISOR)));
    } catch (error) {
      unavailableUntilMs = nowMs() + PAUSE_MS;
      options.onFault(error);
      countAlone(bucket, limit, requestedAtMs);
    }
  };

  const countAlone = (bucket: Bucket, limit: number, atMs: number): void => {
    const isOver = atMs >= bucket.endsAtMs;
    if (isOver) bucket.endsAtMs = atMs + windowMs;
    bucket.unused = Math.max(0, limit - bucket.spent);
    bucket.used = limit;
    // Exhausted also if fewer units are unused than a waiting call requested.
    bucket.isExhausted = bucket.unused < Math.max(1, bucket.waiting);
  };

  /** Undefined: the store must be asked first. */
  const tryTake = (bucket: Bucket, limit: number, count: number): QuotaUse | undefined => {
    const endsInMs = bucket.endsAtMs - nowMs();
    if (endsInMs <= 0) {
      Object.assign(bucket, NEW_WINDOW);
      return undefined;
    }
    if (bucket.unused >= count) {
      bucket.unused -= count;
      bucket.spent += count;
      return { used: Math.min(limit, Math.max(1, bucket.used - bucket.unused)), endsInMs };
    }
    return bucket.isExhausted ? { used: limit + 1, endsInMs } : undefined;
  };

  const takeWhenGranted = async (
    name: string,
    bucket: Bucket,
    limit: number,
    count: number,
  ): Promise<QuotaUse> => {
    bucket.waiting += count;
    try {
      for (;;) {
        bucket.leaseRequest ??= requestLease(name, bucket, limit).finally(() => {
          bucket.leaseRequest = undefined;
        });
        await bucket.leaseRequest;
        const use = tryTake(bucket, limit, count);
        if (use !== undefined) return use;
      }
    } finally {
      bucket.waiting -= count;
    }
  };

  return {
    take(name, limit, count = 1) {
      const bucket = bucketOf(name);
      return tryTake(bucket, limit, count) ?? takeWhenGranted(name, bucket, limit, count);
    },
  };
}

/** A bucket at the start of a window. */
const NEW_WINDOW = { unused: 0, spent: 0, used: 0, endsAtMs: -Infinity, isExhausted: false, chunk: 1 };
