/** How far from the guess the search goes: pools that cannot fill an amount never reach it. */
const FARTHEST_FACTOR = 4n;
const FARTHEST_UNITS = 1_000_000n;

/**
 * The smallest positive amount for which `reaches` holds, found exactly. `reaches` must be monotonic. A good
 * `guess` costs two calls. Undefined if it does not hold up to about four times the guess.
 */
export function minAmount(guess: bigint, reaches: (amount: bigint) => boolean): bigint | undefined {
  let above = guess > 0n ? guess : 1n;
  let below: bigint;
  if (reaches(above)) {
    below = above - 1n;
    for (let stride = 1n; below > 0n && reaches(below); stride *= 2n) {
      above = below;
      below = above > stride ? above - stride : 0n;
    }
  } else {
    const farthest = above * FARTHEST_FACTOR + FARTHEST_UNITS;
    below = above;
    above = below + 1n;
    for (let stride = 2n; !reaches(above); stride *= 2n) {
      if (above >= farthest) return undefined;
      below = above;
      above = below + stride;
    }
  }
  // Invariant from here on: `above` reaches and `below` does not.
  while (above - below > 1n) {
    const middle = (above + below) / 2n;
    if (reaches(middle)) above = middle;
    else below = middle;
  }
  return above;
}
