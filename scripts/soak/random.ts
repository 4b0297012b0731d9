/** Repeatable randomness: a failed run can be repeated with the same seed and the same requests. */
export interface Random {
  /** At least 0, and below 1. */
  next(): number;
  /** An integer from `min` to `max`, inclusive. */
  int(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<T>(list: readonly T[]): T;
  /** An index, drawn in proportion to the weights. */
  weighted(weights: readonly number[]): number;
}

/** The mulberry32 generator, with 32 bits of state: enough for test data, but not for anything else. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const index = Math.floor(next() * list.length);
      if (index >= list.length) throw new RangeError("nothing to pick from");
      return list[index] as (typeof list)[number];
    },
    weighted: (weights) => {
      let remainder = next() * weights.reduce((sum, weight) => sum + weight, 0);
      const index = weights.findIndex((weight) => (remainder -= weight) < 0);
      return index === -1 ? weights.length - 1 : index;
    },
  };
}
