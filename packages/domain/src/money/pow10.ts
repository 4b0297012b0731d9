const POWERS: readonly bigint[] = Array.from({ length: 256 }, (_, exponent) => 10n ** BigInt(exponent));

/**
 * 10^exponent from a table: a fresh BigInt power costs more than the rest of a conversion.
 *
 * @throws RangeError outside 0..255, the range of ERC-20 `decimals`.
 */
export function pow10(exponent: number): bigint {
  const power = POWERS[exponent];
  if (power === undefined) throw new RangeError(`exponent must be from 0 to 255, got ${exponent}`);
  return power;
}
