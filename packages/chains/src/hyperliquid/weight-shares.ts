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
   * @throws ShareUsedUp if that takes longer than two minutes
   */
  wait(method: string, weight: number): Promise<void>;
  /** @throws ShareUsedUp if the share does not allow a request now */
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
/** While a request waits, another share may lend. */
const LOOK_AGAIN_MS = 250;

interface Bucket {
  readonly perMinute: number;
  readonly burst: number;
  held: number;
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
    held: perMinute * burst,
  });
  const [deposits, payments] = [bucket(PARTS.deposits), bucket(PARTS.payments)];
  const work = refilling([deposits, payments]);
  const clients = bucket(PARTS.clients);
  const wallets = bucket(PARTS.wallets);
  return {
    deposits: shareOf(deposits, work),
    payments: shareOf(payments, work),
    clients: shareOf(clients, refilling([clients])),
    wallets: shareOf(wallets, refilling([wallets])),
  };
}

/** Refills buckets by the elapsed time. The excess of a full bucket goes to the others. */
function refilling(buckets: readonly Bucket[]): () => void {
  let atMs = performance.now();
  return () => {
    const nowMs = performance.now();
    const passed = (nowMs - atMs) / MINUTE_MS;
    atMs = nowMs;
    let spare = 0;
    for (const one of buckets) {
      const held = one.held + one.perMinute * passed;
      one.held = Math.min(held, one.burst);
      spare += held - one.held;
    }
    for (const one of buckets) {
      const lent = Math.min(spare, one.burst - one.held);
      one.held += lent;
      spare -= lent;
    }
  };
}

function shareOf(bucket: Bucket, refill: () => void): WeightShare {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const untilMs = (weight: number): number => ((weight - bucket.held) / bucket.perMinute) * MINUTE_MS;
  const usedUp = (method: string, weight: number): RateLimitShareExceeded =>
    new RateLimitShareExceeded(method, { perMinute: bucket.perMinute, waitMs: untilMs(weight) });

  async function inTurn(method: string, weight: number, deadline: number): Promise<void> {
    for (;;) {
      refill();
      if (bucket.held >= weight) break;
      if (performance.now() >= deadline) throw usedUp(method, weight);
      const ms = Math.max(1, Math.min(untilMs(weight), LOOK_AGAIN_MS));
      await new Promise<void>((resolve) => void setTimeout(resolve, ms));
    }
    bucket.held -= weight;
  }

  return {
    wait: async (method, weight) => {
      const deadline = performance.now() + MAX_WAIT_MS;
      waiting += 1;
      const mine = last.then(async () => inTurn(method, weight, deadline));
      last = mine.catch(() => undefined);
      await mine.finally(() => (waiting -= 1));
    },
    takeNow: (method, weight) => {
      refill();
      // Callers that already wait go first.
      if (waiting > 0 || bucket.held < weight) throw usedUp(method, weight);
      bucket.held -= weight;
    },
    charge: (weight) => {
      refill();
      bucket.held -= weight;
    },
  };
}
