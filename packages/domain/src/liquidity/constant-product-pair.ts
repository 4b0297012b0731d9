import { BPS } from "../money/bps.ts";

/** Reserves of a constant-product pair at one block; tokens ordered by address. */
export interface ConstantProductPair {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** bps of the input. */
  readonly feeBps: bigint;
}

/**
 * A pair's output for an input, rounded down. Source: Uniswap v2 whitepaper 3.2.1 and 3.1; the periphery's
 * `getAmountOut` for the rounding.
 * @returns 0n if a reserve is empty
 */
export function pairOutput(pair: ConstantProductPair, zeroForOne: boolean, amountIn: bigint): bigint {
  const reserveIn = zeroForOne ? pair.reserve0 : pair.reserve1;
  const reserveOut = zeroForOne ? pair.reserve1 : pair.reserve0;
  if (reserveIn === 0n || reserveOut === 0n) return 0n;
  const scaledInput = amountIn * (BPS - pair.feeBps);
  return (scaledInput * reserveOut) / (reserveIn * BPS + scaledInput);
}

/**
 * A pair's input for an output: the periphery's `getAmountIn`, which adds one unit to the rounded-down
 * quotient.
 * @returns undefined if the pair's reserve does not exceed the output
 */
export function pairInput(
  pair: ConstantProductPair,
  zeroForOne: boolean,
  amountOut: bigint,
): bigint | undefined {
  const reserveIn = zeroForOne ? pair.reserve0 : pair.reserve1;
  const reserveOut = zeroForOne ? pair.reserve1 : pair.reserve0;
  if (reserveIn === 0n || reserveOut <= amountOut) return undefined;
  return (reserveIn * amountOut * BPS) / ((reserveOut - amountOut) * (BPS - pair.feeBps)) + 1n;
}

/** What the input would buy at the pair's price after its fee: an upper bound of any swap. */
export function spotPair(pair: ConstantProductPair, zeroForOne: boolean, amountIn: bigint): bigint {
  const reserveIn = zeroForOne ? pair.reserve0 : pair.reserve1;
  const reserveOut = zeroForOne ? pair.reserve1 : pair.reserve0;
  return reserveIn === 0n ? 0n : (amountIn * (BPS - pair.feeBps) * reserveOut) / (reserveIn * BPS);
}
