/** Facts that can never change, the least recently asked for forgotten first. */
export interface RememberedFacts<T> {
  get(key: string): T | undefined;
  set(key: string, fact: T): void;
}

export interface MemoryBounds<T> {
  /** Most facts that are kept. */
  readonly entries: number;
  /** Most bytes that they may take together, by `sizeOf`. */
  readonly bytes: number;
  /** Must not change while a fact is kept. */
  readonly sizeOf: (fact: T) => number;
}

/**
 * Bounded by what the facts weigh as well as by their number: whoever pays for a transaction decides how
 * large it is.
 */
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

/** Runs `work` once for all who ask for the same key while it is under way. Nothing outlives it. */
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
