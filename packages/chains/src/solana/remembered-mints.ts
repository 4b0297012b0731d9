import { rememberedFacts, type RememberedFacts } from "../evm/remembered-facts.ts";

const MAX_MINTS = 10_000;

/** A cache of facts by mint, bounded because clients name mints. */
export function rememberedMints<T>(): RememberedFacts<T> {
  return rememberedFacts({ entries: MAX_MINTS, bytes: MAX_MINTS, sizeOf: () => 1 });
}
