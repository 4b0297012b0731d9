import type { FeeCaps, GasPrices } from "@causeway/chains";

/**
 * Fees that nodes accept as a replacement of `latest` at current prices; undefined if the cap forbids them.
 */
export function replacementFees(
  latest: FeeCaps,
  prices: GasPrices,
  bumpBps: number,
  capWei: bigint | undefined,
): FeeCaps | undefined {
  const bump = (wei: bigint): bigint => (wei * BigInt(10_000 + bumpBps)) / 10_000n + 1n;
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const maxFeePerGas = larger(bump(latest.maxFeePerGas), prices.maxFeePerGas);
  const maxPriorityFeePerGas = larger(bump(latest.maxPriorityFeePerGas), prices.maxPriorityFeePerGas);
  if (capWei !== undefined && maxFeePerGas > capWei) return undefined;
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: maxPriorityFeePerGas < maxFeePerGas ? maxPriorityFeePerGas : maxFeePerGas,
  };
}
