import type { MaybePromise } from "@causeway/domain";

/** Stops a decision that reads a fact that has not been fetched yet. */
class MissingFact extends Error {
  constructor() {
    super("invariant violated: a missing fact was read outside of a decision");
    this.name = "MissingFact";
  }
}

type Fact =
  | { readonly kind: "known"; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

/**
 * The facts of one quote. A decision reads them as if all were in memory: the first missing fact stops the
 * decision, is fetched, and the decision runs again from its start. So decisions must have no side effects. A
 * fact keeps its value throughout the quote.
 */
export interface Facts {
  /** Calls `fetch` at most once for each key. @throws what `fetch` throws or rejects with */
  read<T>(key: string, fetch: () => MaybePromise<T>): T;
  /** Starts all reads before any of them stops the decision: missing facts are fetched at the same time. */
  together(...reads: readonly (() => unknown)[]): void;
  /** Runs the decision until all facts that it reads are known. */
  decide<T>(decision: () => T): Promise<T>;
}

export function createFacts(): Facts {
  // One for all reads, because creating an error collects its stack.
  const missing = new MissingFact();
  const facts = new Map<string, Fact>();
  const pending = new Map<string, Promise<void>>();
  const settle = (key: string, fact: Fact): void => {
    facts.set(key, fact);
    pending.delete(key);
  };
  const fetchFact = (key: string, fetch: () => MaybePromise<unknown>): Fact => {
    let fact: Fact;
    try {
      const value = fetch();
      if (value instanceof Promise) {
        pending.set(
          key,
          value.then(
            (result: unknown) => settle(key, { kind: "known", value: result }),
            (error: unknown) => settle(key, { kind: "failed", error }),
          ),
        );
        throw missing;
      }
      fact = { kind: "known", value };
    } catch (error) {
      if (error instanceof MissingFact) throw error;
      fact = { kind: "failed", error };
    }
    facts.set(key, fact);
    return fact;
  };
  return {
    read<T>(key: string, fetch: () => MaybePromise<T>): T {
      if (pending.has(key)) throw missing;
      const fact = facts.get(key) ?? fetchFact(key, fetch);
      if (fact.kind === "failed") throw fact.error;
      return fact.value as T;
    },
    together(...reads) {
      for (const read of reads)
        try {
          read();
        } catch {
          // The decision throws the same error when it makes this read itself.
        }
    },
    async decide(decision) {
      for (;;)
        try {
          return decision();
        } catch (error) {
          if (!(error instanceof MissingFact)) throw error;
          await Promise.all(pending.values());
        }
    },
  };
}
