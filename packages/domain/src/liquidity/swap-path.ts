import type { ConcentratedPool } from "./concentrated-pool.ts";
import { spotConcentrated, swapConcentrated } from "./concentrated-pool.ts";
import { pairInput, pairOutput, spotPair, type ConstantProductPair } from "./constant-product-pair.ts";

/** One pool of a path, and its direction. */
export type Hop =
  | { readonly kind: "concentrated"; readonly pool: ConcentratedPool; readonly zeroForOne: boolean }
  | { readonly kind: "pair"; readonly pool: ConstantProductPair; readonly zeroForOne: boolean };

export interface PathOutput {
  readonly amountOut: bigint;
  /** Whether all of the input could be spent; otherwise `amountOut` is the output of a part of it. */
  readonly complete: boolean;
  /** Initialized ticks that were crossed: each costs gas. */
  readonly crossedTicks: number;
}

/** The output of an input through consecutive, distinct pools. Grows with the input. */
export function pathOutput(hops: readonly Hop[], amountIn: bigint): PathOutput {
  let amountOut = amountIn;
  let complete = true;
  let crossedTicks = 0;
  for (const hop of hops) {
    if (hop.kind === "pair") {
      amountOut = pairOutput(hop.pool, hop.zeroForOne, amountOut);
      continue;
    }
    const swap = swapConcentrated(hop.pool, hop.zeroForOne, "exactIn", amountOut);
    amountOut = swap.amountOut;
    complete &&= swap.complete;
    crossedTicks += swap.crossedTicks;
  }
  return { amountOut, complete, crossedTicks };
}

export interface PathInput {
  readonly amountIn: bigint;
  readonly crossedTicks: number;
}

/**
 * The input for an output through consecutive pools, computed from the last to the first as the routers do.
 * Grows with the output.
 * @returns undefined if a pool, or its known ticks, cannot supply the output
 */
export function pathInput(hops: readonly Hop[], amountOut: bigint): PathInput | undefined {
  let amountIn = amountOut;
  let crossedTicks = 0;
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = hops[index] as Hop;
    if (hop.kind === "pair") {
      const requiredInput = pairInput(hop.pool, hop.zeroForOne, amountIn);
      if (requiredInput === undefined) return undefined;
      amountIn = requiredInput;
      continue;
    }
    const swap = swapConcentrated(hop.pool, hop.zeroForOne, "exactOut", amountIn);
    if (!swap.complete) return undefined;
    amountIn = swap.amountIn;
    crossedTicks += swap.crossedTicks;
  }
  return { amountIn, crossedTicks };
}

/** What the input would buy at each pool's current price, after fees: an upper bound of any swap. */
export function pathSpot(hops: readonly Hop[], amountIn: bigint): bigint {
  let amount = amountIn;
  for (const hop of hops)
    amount =
      hop.kind === "pair"
        ? spotPair(hop.pool, hop.zeroForOne, amount)
        : spotConcentrated(hop.pool, hop.zeroForOne, amount);
  return amount;
}
