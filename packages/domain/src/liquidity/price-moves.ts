import { divUp, mulDivDown, mulDivUp } from "../money/mul-div.ts";

/**
 * How amounts and prices of constant liquidity move each other. Prices are sqrt(token1 per token0) as Q64.96,
 * amounts smallest units. Source: Uniswap v3 whitepaper 6.2.3, with the roundings of the deployed pools:
 * always in the pool's favour. Pure.
 */

const Q96 = 1n << 96n;
const MAX_UINT256 = (1n << 256n) - 1n;

/**
 * Token0 between two prices, `lower` <= `upper`: L * (upper - lower) / (upper * lower), rounded once per
 * division as the pools do.
 */
export function amount0Between(lower: bigint, upper: bigint, liquidity: bigint, up: boolean): bigint {
  const scaled = liquidity << 96n;
  return up
    ? divUp(mulDivUp(scaled, upper - lower, upper), lower)
    : mulDivDown(scaled, upper - lower, upper) / lower;
}

/** Token1 between two prices, `lower` <= `upper`: L * (upper - lower). */
export function amount1Between(lower: bigint, upper: bigint, liquidity: bigint, up: boolean): bigint {
  return up ? mulDivUp(liquidity, upper - lower, Q96) : mulDivDown(liquidity, upper - lower, Q96);
}

/** Price after `amountIn` (fee taken off) has come into liquidity above zero: never past the exact one. */
export function priceAfterInput(
  price: bigint,
  liquidity: bigint,
  amountIn: bigint,
  zeroForOne: boolean,
): bigint {
  if (!zeroForOne) return price + mulDivDown(amountIn, Q96, liquidity);
  if (amountIn === 0n) return price;
  const scaled = liquidity << 96n;
  const product = amountIn * price;
  // Where 256 bits overflow the pools use the coarser form of the same formula, and so must whoever foretells
  // them.
  return scaled + product <= MAX_UINT256
    ? mulDivUp(scaled, price, scaled + product)
    : divUp(scaled, scaled / price + amountIn);
}

/**
 * Price after `amountOut` has gone out of liquidity above zero: never short of the exact one.
 *
 * @param amountOut at most what the liquidity holds up to the price's end
 */
export function priceAfterOutput(
  price: bigint,
  liquidity: bigint,
  amountOut: bigint,
  zeroForOne: boolean,
): bigint {
  if (zeroForOne) return price - mulDivUp(amountOut, Q96, liquidity);
  const scaled = liquidity << 96n;
  return mulDivUp(scaled, price, scaled - amountOut * price);
}
