/** Facts that can never change, the least recently asked for forgotten first. */
export interface RememberedFacts<T> {
  get(key: string): T | undefined;
  set(key: string, fact: T): void;
}

/** @param entries most facts that are kept */
export function rememberedFacts<T>(entries: number): RememberedFacts<T> {
  const facts = new Map<string, T>();
  return {
    get: (key) => {
      const fact = facts.get(key);
      if (fact === undefined) return undefined;
      facts.delete(key);
      facts.set(key, fact);
      return fact;
    },
    set: (key, fact) => {
      facts.delete(key);
      facts.set(key, fact);
      if (facts.size <= entries) return;
      const [oldest] = facts.keys();
      if (oldest !== undefined) facts.delete(oldest);
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
