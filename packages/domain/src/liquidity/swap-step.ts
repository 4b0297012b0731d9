import { mulDivDown, mulDivUp } from "../money/mul-div.ts";
import { amount0Between, amount1Between, priceAfterInput, priceAfterOutput } from "./price-moves.ts";

/** Fees of concentrated liquidity are in hundredths of a bp. */
export const FEE_UNITS = 1_000_000n;

export interface SwapStep {
  /** Price at the end of the step, Q64.96. */
  readonly price: bigint;
  /** Excluding the fee. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Fee on the input, in addition to `amountIn`. */
  readonly fee: bigint;
}

/**
 * The part of a swap at constant liquidity, from `price` at most to `target`. Prices fall when token0 is the
 * input.
 * Source: Uniswap v3 whitepaper 6.2.3 and 6.3, with the rounding of the deployed pools.
 * @param remaining input including the fee that is not spent yet, or output that is still missing
 */
export function swapStep(
  price: bigint,
  target: bigint,
  liquidity: bigint,
  remaining: bigint,
  exactIn: boolean,
  fee: bigint,
): SwapStep {
  const zeroForOne = price >= target;
  if (exactIn) {
    const spendable = mulDivDown(remaining, FEE_UNITS - fee, FEE_UNITS);
    const toTarget = inputBetween(price, target, liquidity, zeroForOne);
    if (spendable >= toTarget) {
      const amountOut = outputBetween(price, target, liquidity, zeroForOne);
      return { price: target, amountIn: toTarget, amountOut, fee: mulDivUp(toTarget, fee, FEE_UNITS - fee) };
    }
    const reached = priceAfterInput(price, liquidity, spendable, zeroForOne);
    const amountIn = inputBetween(price, reached, liquidity, zeroForOne);
    const amountOut = outputBetween(price, reached, liquidity, zeroForOne);
    // Input that does not move the price is fee, unless rounding reached the target.
    const paidFee = reached === target ? mulDivUp(toTarget, fee, FEE_UNITS - fee) : remaining - amountIn;
    return { price: reached, amountIn: reached === target ? toTarget : amountIn, amountOut, fee: paidFee };
  }
  const toTarget = outputBetween(price, target, liquidity, zeroForOne);
  const reached = remaining >= toTarget ? target : priceAfterOutput(price, liquidity, remaining, zeroForOne);
  const amountIn = inputBetween(price, reached, liquidity, zeroForOne);
  const amountOut = reached === target ? toTarget : outputBetween(price, reached, liquidity, zeroForOne);
  return {
    price: reached,
    amountIn,
    amountOut: amountOut > remaining ? remaining : amountOut,
    fee: mulDivUp(amountIn, fee, FEE_UNITS - fee),
  };
}

function inputBetween(from: bigint, to: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount0Between(to, from, liquidity, true) : amount1Between(from, to, liquidity, true);
}

function outputBetween(from: bigint, to: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount1Between(to, from, liquidity, false) : amount0Between(from, to, liquidity, false);
}
