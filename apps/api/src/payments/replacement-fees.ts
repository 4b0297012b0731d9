import type { FeeCaps, GasPrices } from "@causeway/chains";
import { bumpedFee } from "@causeway/domain";

/**
 * Fees with which nodes accept a replacement of `latest` at current prices; undefined if the cap forbids
 * them.
 */
export function replacementFees(
  latest: FeeCaps,
  prices: GasPrices,
  capWei: bigint | undefined,
): FeeCaps | undefined {
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const maxFeePerGas = larger(bumpedFee(latest.maxFeePerGas), prices.maxFeePerGas);
  const maxPriorityFeePerGas = larger(bumpedFee(latest.maxPriorityFeePerGas), prices.maxPriorityFeePerGas);
  if (capWei !== undefined && maxFeePerGas > capWei) return undefined;
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: maxPriorityFeePerGas < maxFeePerGas ? maxPriorityFeePerGas : maxFeePerGas,
  };
}
