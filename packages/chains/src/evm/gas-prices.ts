import { fieldsOf, quantityOf, type BlockRef, type GasPrices } from "@causeway/families/evm";
import { garbage } from "@causeway/families";

/** Recent priority fees and the next base fee, from `eth_feeHistory`. */
export interface FeeHistory {
  /** Base fee of the block after the newest one, wei. */
  readonly nextBaseFeePerGas: bigint;
  /**
   * Priority fee per gas at the requested percentile, wei, one per block, oldest first; 0 for empty blocks.
   */
  readonly rewards: readonly bigint[];
}

export interface FeePolicy {
  readonly minPriorityFeeWei: bigint;
  readonly maxFeePerGasWei: bigint;
}

/** Blocks and percentile of the request: the fee at which half of the gas of recent blocks was included. */
export const FEE_HISTORY_BLOCKS = 10;
export const FEE_HISTORY_PERCENTILE = 50;

/**
 * Live gas prices, in wei per gas.
 *
 * Priority: the median over recent blocks, at least the configured minimum. Empty blocks count with that
 * minimum, which would have been enough: otherwise the tips of a single block would set the price of a quiet
 * chain and make firm quotes fail. Cap: twice the base fee (room for six full blocks, each raising it by an
 * eighth, EIP-1559) plus the priority fee, never above the configured cap.
 */
export function gasPricesFrom(head: BlockRef, history: FeeHistory | undefined, policy: FeePolicy): GasPrices {
  const baseFeePerGas = history?.nextBaseFeePerGas ?? head.baseFeePerGas;
  if (baseFeePerGas === undefined) {
    throw garbage("eth_getBlockByNumber", "chain has no base fee; EIP-1559 is required");
  }
  const floor = policy.minPriorityFeeWei;
  const rewards = (history?.rewards ?? [])
    .map((reward) => (reward > floor ? reward : floor))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const priorityFee = rewards[Math.floor(rewards.length / 2)] ?? floor;
  const maxFeePerGas = cap(2n * baseFeePerGas + priorityFee, policy.maxFeePerGasWei);
  // A priority fee above the maximum fee is invalid (EIP-1559).
  return { baseFeePerGas, maxPriorityFeePerGas: cap(priorityFee, maxFeePerGas), maxFeePerGas };
}

/** Reads an answer of `eth_feeHistory` to one percentile. @throws RpcFault */
export function readFeeHistory(value: unknown): FeeHistory {
  const method = "eth_feeHistory";
  const { baseFeePerGas, reward } = fieldsOf(value, method);
  if (!Array.isArray(baseFeePerGas) || baseFeePerGas.length === 0)
    throw garbage(method, "base fees are missing");
  // Some nodes omit rewards when all requested blocks are empty.
  const rewards: unknown[] = Array.isArray(reward) ? reward : [];
  return {
    nextBaseFeePerGas: quantityOf(baseFeePerGas.at(-1), method, "baseFeePerGas"),
    rewards: rewards.map((row) => quantityOf(Array.isArray(row) ? row[0] : undefined, method, "reward")),
  };
}

function cap(value: bigint, bound: bigint): bigint {
  return value < bound ? value : bound;
}
