import { createFactCache, type FactCache } from "../evm/fact-cache.ts";

const MAX_MINTS = 10_000;

/** A cache of facts by mint, bounded because clients name mints. */
export function createMintCache<T>(): FactCache<T> {
  return createFactCache({ entries: MAX_MINTS, bytes: MAX_MINTS, sizeOf: () => 1 });
}
