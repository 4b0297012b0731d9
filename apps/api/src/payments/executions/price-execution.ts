import type { GasPrices } from "@causeway/chains";
import { bumpedFee, MAX_TRANSACTION_GAS, type Chain } from "@causeway/domain";

/** Headroom above the simulated gas: state may change before the block. Unused gas is not charged. */
export const GAS_HEADROOM_BPS = 3_000n;

/**
 * The gas limit for a transaction that needed `gas` in simulation: with headroom, up to the cap per
 * transaction. A chain that ran it with more than the cap does not have the cap.
 */
export function withHeadroom(gas: bigint): bigint {
  const withMargin = gas + (gas * GAS_HEADROOM_BPS) / 10_000n;
  return withMargin <= MAX_TRANSACTION_GAS || gas > MAX_TRANSACTION_GAS ? withMargin : MAX_TRANSACTION_GAS;
}

/** Maximum wei per gas: the current offer, raised once as for a replacement. */
export function priceCap(prices: Pick<GasPrices, "maxFeePerGas">, chain: Chain): bigint {
  const raised = bumpedFee(prices.maxFeePerGas);
  const allowed = raised < chain.fees.maxFeePerGasWei ? raised : chain.fees.maxFeePerGasWei;
  return allowed > prices.maxFeePerGas ? allowed : prices.maxFeePerGas;
}

/**
 * Maximum data fee of a rollup transaction, wei: the parent chain may double its price before the transaction
 * is mined.
 * @param wei the data fee at current prices
 */
export function dataFeeCap(wei: bigint): bigint {
  return wei * 2n;
}
