/** A cache of immutable facts; the least recently used is evicted first. */
export interface FactCache<T> {
  get(key: string): T | undefined;
  set(key: string, fact: T): void;
}

export interface CacheLimits<T> {
  /** Maximum number of facts. */
  readonly entries: number;
  /** Maximum total size, by `sizeOf`. */
  readonly bytes: number;
  /** Must not change while a fact is cached. */
  readonly sizeOf: (fact: T) => number;
}

/** Limited by total size as well as by number, because users control the size of a transaction. */
export function createFactCache<T>({ entries, bytes, sizeOf }: CacheLimits<T>): FactCache<T> {
  const facts = new Map<string, T>();
  let totalBytes = 0;
  const evict = (key: string, fact: T): void => {
    facts.delete(key);
    totalBytes -= sizeOf(fact);
  };
  return {
    get: (key) => {
      const fact = facts.get(key);
      if (fact === undefined) return undefined;
      facts.delete(key);
      facts.set(key, fact);
      return fact;
    },
    set: (key, fact) => {
      const replaced = facts.get(key);
      if (replaced !== undefined) evict(key, replaced);
      facts.set(key, fact);
      totalBytes += sizeOf(fact);
      for (const [oldest, oldestFact] of facts) {
        if (facts.size <= entries && totalBytes <= bytes) return;
        evict(oldest, oldestFact);
      }
    },
  };
}

/** Runs `work` once for all concurrent callers of a key, without caching the result. */
export function singleFlight<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Map<string, Promise<T>>();
  return async (key, work) => {
    const current = inFlight.get(key);
    if (current !== undefined) return await current;
    const running = work().finally(() => inFlight.delete(key));
    inFlight.set(key, running);
    return await running;
  };
}
