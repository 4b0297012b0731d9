import { formatGwei, type PublicClient } from "viem";

/** A deployer's gas fees, in wei. */
export interface DeploymentFees {
  /** Gas price at the newest block, including the priority fee. */
  readonly current: bigint;
  readonly bid:
    | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
    | { readonly type: "legacy"; readonly gasPrice: bigint };
}

/** Maximum price per gas of a bid. */
export function maxGasPrice({ bid }: DeploymentFees): bigint {
  return bid.type === "eip1559" ? bid.maxFeePerGas : bid.gasPrice;
}

/** The gas price exceeds the operator's limit. */
export class GasPriceAboveCap extends Error {
  override readonly name = "GasPriceAboveCap";
}

/**
 * Twice the current base fee, so that a rising one does not strand the transactions, but never above the cap.
 * @throws GasPriceAboveCap
 */
export async function readFees(client: PublicClient, capWei: bigint): Promise<DeploymentFees> {
  const { baseFeePerGas } = await client.getBlock();
  if (baseFeePerGas === null) {
    const gasPrice = await client.getGasPrice();
    requireWithinCap(gasPrice, capWei);
    return { current: gasPrice, bid: { type: "legacy", gasPrice } };
  }
  const maxPriorityFeePerGas = await client.estimateMaxPriorityFeePerGas();
  const current = baseFeePerGas + maxPriorityFeePerGas;
  requireWithinCap(current, capWei);
  const uncapped = 2n * baseFeePerGas + maxPriorityFeePerGas;
  const maxFeePerGas = uncapped < capWei ? uncapped : capWei;
  return { current, bid: { type: "eip1559", maxFeePerGas, maxPriorityFeePerGas } };
}

function requireWithinCap(current: bigint, capWei: bigint): void {
  if (current <= capWei) return;
  const [now, cap] = [current, capWei].map((wei) => formatGwei(wei));
  throw new GasPriceAboveCap(
    `gas costs ${now} gwei now, more than --max-fee-gwei ${cap}; wait until it is cheaper, or raise the limit`,
  );
}
