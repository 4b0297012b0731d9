/**
 * Converts a recovery id to the parity of an Ethereum signature.
 * @throws RangeError for 2 and 3 (r above the curve's order, one signature in 2^127), which v cannot express
 */
export function yParityOf(recoveryId: number): 0 | 1 {
  if (recoveryId !== 0 && recoveryId !== 1)
    throw new RangeError(`invariant violated: recovery id ${recoveryId} must be 0 or 1`);
  return recoveryId;
}
