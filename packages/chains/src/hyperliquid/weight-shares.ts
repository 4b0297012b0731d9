import { RateLimitShareExceeded } from "../nodes/rate-limit-share-exceeded.ts";

/** Shares of a rate-limited endpoint, by purpose. */
export interface WeightShares {
  /** Reading deposits, in the worker. Lends unused weight to `payments`, and borrows from it. */
  readonly deposits: WeightShare;
  /** Making and tracking payments, in the worker. */
  readonly payments: WeightShare;
  /** Requests caused by clients, in the API: reports of transactions, and quotes. */
  readonly clients: WeightShare;
  /** Balances of wallets, read by the API. */
  readonly wallets: WeightShare;
}

export interface WeightShare {
  /**
   * Waits in order until the share allows a request.
   *
   * @throws RateLimitShareExceeded if that takes longer than two minutes
   */
  wait(method: string, weight: number): Promise<void>;
  /** @throws RateLimitShareExceeded if the share does not allow a request now */
  takeNow(method: string, weight: number): void;
  /** Charges the weight of an answer in addition to its request; later requests wait until it is refilled. */
  charge(weight: number): void;
}

/**
 * Parts of the limit: the continuous refill, and the burst. Together they are the whole limit, so that no
 * minute exceeds it.
 */
const PARTS = {
  deposits: { refill: 0.3, burst: 0.05 },
  payments: { refill: 0.25, burst: 0.04 },
  clients: { refill: 0.25, burst: 0.04 },
  wallets: { refill: 0.05, burst: 0.02 },
} as const;

const MINUTE_MS = 60_000;
const MAX_WAIT_MS = 120_000;
/** How often a waiting request checks its share again, ms: another share may have lent weight. */
const RECHECK_MS = 250;

interface Bucket {
  readonly perMinute: number;
  readonly burst: number;
  available: number;
}

/**
 * Divides an endpoint's rate limit, so that no purpose can starve another. The API and the worker are
 * separate processes behind one IP: each uses only its own shares.
 * @param perMinute the endpoint's limit for one IP
 */
export function createWeightShares(perMinute: number): WeightShares {
  const bucket = ({ refill, burst }: { readonly refill: number; readonly burst: number }): Bucket => ({
    perMinute: perMinute * refill,
    burst: perMinute * burst,
    available: perMinute * burst,
  });
  const [deposits, payments] = [bucket(PARTS.deposits), bucket(PARTS.payments)];
  const refillWork = createRefill([deposits, payments]);
  const clients = bucket(PARTS.clients);
  const wallets = bucket(PARTS.wallets);
  return {
    deposits: createShare(deposits, refillWork),
    payments: createShare(payments, refillWork),
    clients: createShare(clients, createRefill([clients])),
    wallets: createShare(wallets, createRefill([wallets])),
  };
}

/**
 * Returns a function that refills buckets by the elapsed time. The excess of full buckets goes to the others.
 */
function createRefill(buckets: readonly Bucket[]): () => void {
  let atMs = performance.now();
  return () => {
    const nowMs = performance.now();
    const elapsedMinutes = (nowMs - atMs) / MINUTE_MS;
    atMs = nowMs;
    let spare = 0;
    for (const bucket of buckets) {
      const uncapped = bucket.available + bucket.perMinute * elapsedMinutes;
      bucket.available = Math.min(uncapped, bucket.burst);
      spare += uncapped - bucket.available;
    }
    for (const bucket of buckets) {
      const lent = Math.min(spare, bucket.burst - bucket.available);
      bucket.available += lent;
      spare -= lent;
    }
  };
}

function createShare(bucket: Bucket, refill: () => void): WeightShare {
  let previousTurn: Promise<void> = Promise.resolve();
  let waiting = 0;
  const untilMs = (weight: number): number => ((weight - bucket.available) / bucket.perMinute) * MINUTE_MS;
  const shareExceeded = (method: string, weight: number): RateLimitShareExceeded =>
    new RateLimitShareExceeded(method, { perMinute: bucket.perMinute, waitMs: untilMs(weight) });

  async function takeWhenAvailable(method: string, weight: number, deadline: number): Promise<void> {
    for (;;) {
      refill();
      if (bucket.available >= weight) break;
      if (performance.now() >= deadline) throw shareExceeded(method, weight);
      const ms = Math.max(1, Math.min(untilMs(weight), RECHECK_MS));
      await new Promise<void>((resolve) => void setTimeout(resolve, ms));
    }
    bucket.available -= weight;
  }

  return {
    wait: async (method, weight) => {
      const deadline = performance.now() + MAX_WAIT_MS;
      waiting += 1;
      const turn = previousTurn.then(async () => takeWhenAvailable(method, weight, deadline));
      previousTurn = turn.catch(() => undefined);
      await turn.finally(() => (waiting -= 1));
    },
    takeNow: (method, weight) => {
      refill();
      // Callers that already wait go first.
      if (waiting > 0 || bucket.available < weight) throw shareExceeded(method, weight);
      bucket.available -= weight;
    },
    charge: (weight) => {
      refill();
      bucket.available -= weight;
    },
  };
}
