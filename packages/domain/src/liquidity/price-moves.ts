import { divUp, mulDivDown, mulDivUp } from "../money/mul-div.ts";

/**
 * How amounts and prices move each other at constant liquidity. Prices are sqrt(token1 per token0) as Q64.96,
 * amounts are base units. Source: Uniswap v3 whitepaper 6.2.3, with the rounding of the deployed pools,
 * always in the pool's favor.
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

/** Price after an input (without fee) at positive liquidity, rounded so as not to pass the exact price. */
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
  // On 256-bit overflow the pools use a coarser formula, so this prediction must too.
  return scaled + product <= MAX_UINT256
    ? mulDivUp(scaled, price, scaled + product)
    : divUp(scaled, scaled / price + amountIn);
}

/**
 * Price after an output at positive liquidity, rounded so as not to fall short of the exact price.
 * @param amountOut at most what the liquidity holds up to the end of its range
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
