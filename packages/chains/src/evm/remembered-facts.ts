/** Facts that can never change; the least recently used is forgotten first. */
export interface RememberedFacts<T> {
  get(key: string): T | undefined;
  set(key: string, fact: T): void;
}

export interface MemoryBounds<T> {
  /** Maximum number of facts. */
  readonly entries: number;
  /** Maximum total size, by `sizeOf`. */
  readonly bytes: number;
  /** Must not change while a fact is kept. */
  readonly sizeOf: (fact: T) => number;
}

/** Bounded by the size of the facts as well as by their number: others decide how large a transaction is. */
export function rememberedFacts<T>({ entries, bytes, sizeOf }: MemoryBounds<T>): RememberedFacts<T> {
  const facts = new Map<string, T>();
  let held = 0;
  const forget = (key: string, fact: T): void => {
    facts.delete(key);
    held -= sizeOf(fact);
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
      const former = facts.get(key);
      if (former !== undefined) forget(key, former);
      facts.set(key, fact);
      held += sizeOf(fact);
      for (const [oldest, its] of facts) {
        if (facts.size <= entries && held <= bytes) return;
        forget(oldest, its);
      }
    },
  };
}

/** Runs `work` once for all concurrent callers of a key. Nothing is kept afterwards. */
export function singleFlight<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return async (key, work) => {
    const known = underWay.get(key);
    if (known !== undefined) return await known;
    const running = work().finally(() => underWay.delete(key));
    underWay.set(key, running);
    return await running;
  };
}
