/** Limits of the search above the guess: a pool that cannot fill the amount never reaches it. */
const FARTHEST_FACTOR = 4n;
const FARTHEST_UNITS = 1_000_000n;

/**
 * The smallest positive amount for which `reaches`, which must be monotonic, returns true. An exact `guess`
 * costs two calls. Undefined if no amount up to about four times the guess is enough.
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
