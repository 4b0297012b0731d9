import type { GasPrices } from "@causeway/chains";
import { MAX_TRANSACTION_GAS, type Chain } from "@causeway/domain";

/** Room above the simulated gas: state may move between simulation and block. Unused gas is not charged. */
export const GAS_HEADROOM_BPS = 3_000n;

/**
 * Gas units to give to a transaction that was seen to need `gas`: with room, up to the cap. A chain that ran
 * it with more than the cap does not have the cap.
 */
export function withHeadroom(gas: bigint): bigint {
  const roomy = gas + (gas * GAS_HEADROOM_BPS) / 10_000n;
  return roomy <= MAX_TRANSACTION_GAS || gas > MAX_TRANSACTION_GAS ? roomy : MAX_TRANSACTION_GAS;
}

/** The most wei per gas to reckon with: what is offered now, raised once as a replacement would be. */
export function priceCap(prices: Pick<GasPrices, "maxFeePerGas">, chain: Chain, bumpBps: number): bigint {
  const raised = (prices.maxFeePerGas * BigInt(10_000 + bumpBps)) / 10_000n + 1n;
  const allowed = raised < chain.fees.maxFeePerGasWei ? raised : chain.fees.maxFeePerGasWei;
  return allowed > prices.maxFeePerGas ? allowed : prices.maxFeePerGas;
}

/**
 * The most wei to reckon with for the bytes of a transaction that cost `wei` now: the chain that a rollup
 * writes them to may be twice as dear by then.
 */
export function dataFeeCap(wei: bigint): bigint {
  return wei * 2n;
}
