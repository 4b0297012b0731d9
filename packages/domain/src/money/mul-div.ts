/** floor(value * numerator / denominator). All arguments non-negative, denominator positive. */
export function mulDivDown(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return (value * numerator) / denominator;
}

/** ceil(value * numerator / denominator). All arguments non-negative, denominator positive. */
export function mulDivUp(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return divUp(value * numerator, denominator);
}

/** ceil(numerator / denominator), numerator non-negative, denominator positive. */
export function divUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
