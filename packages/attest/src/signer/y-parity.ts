/**
 * A recovery id as the parity that an Ethereum signature can carry.
 *
 * @throws RangeError for 2 and 3 (an r above the curve's order, one signature in 2^127): v has no word for
 * them.
 */
export function yParityOf(recoveryId: number): 0 | 1 {
  if (recoveryId !== 0 && recoveryId !== 1)
    throw new RangeError(`invariant violated: recovery id ${recoveryId} must be 0 or 1`);
  return recoveryId;
}
