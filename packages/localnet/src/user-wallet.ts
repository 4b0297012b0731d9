import { isEvmStep } from "@causeway/wire";
import type { QuoteStep } from "@causeway/wire";
import { erc20Abi, getAddress, zeroAddress, type Address, type Hex, type TransactionReceipt } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import {
  createLocalClient,
  LocalTransactionFailed,
  PATIENCE_MS,
  type LocalClient,
  type NodeAddress,
} from "@causeway/testkit";

/** One transaction that a user sent for a step of a quote. */
export interface CompletedStep {
  readonly stepId: string;
  readonly chainId: number;
  readonly receipt: TransactionReceipt;
}

/** A user's wallet on several chains. */
export interface UserWallet {
  readonly address: Address;
  /** @param currency the zero address means the native token */
  balanceOf(chainId: number, currency: Address, holder: Address): Promise<bigint>;
  /**
   * Executes the incomplete items of a quote's steps in order, each once the previous one is mined.
   *
   * @throws LocalTransactionFailed if a transaction reverts
   */
  execute(steps: readonly QuoteStep[], onDone?: (done: CompletedStep) => void): Promise<CompletedStep[]>;
}

/** @param nodes one per chain, at the URL in `GET /chains` */
export function createUserWallet(privateKey: Hex, nodes: readonly NodeAddress[]): UserWallet {
  const account = privateKeyToAccount(privateKey);
  const clients = new Map(nodes.map((node) => [node.chainId, createLocalClient(node)]));
  const clientOf = (chainId: number): LocalClient => {
    const client = clients.get(chainId);
    if (client === undefined) throw new RangeError(`chain ${chainId} is not supported by this wallet`);
    return client;
  };
  return {
    address: account.address,
    balanceOf: async (chainId, currency, holder) =>
      currency === zeroAddress
        ? await clientOf(chainId).getBalance({ address: holder })
        : await clientOf(chainId).readContract({
            abi: erc20Abi,
            address: currency,
            functionName: "balanceOf",
            args: [holder],
          }),
    execute: async (steps, onDone) => {
      const done: CompletedStep[] = [];
      for (const step of steps) {
        if (!isEvmStep(step)) throw new RangeError("this wallet supports only transactions on EVM chains");
        for (const { data } of step.items.filter((item) => item.status === "incomplete")) {
          const client = clientOf(data.chainId);
          const hash = await client.sendTransaction({
            account,
            to: getAddress(data.to),
            // The response schema has validated that it is hex.
            data: data.data as Hex,
            value: BigInt(data.value),
            ...(data.gas === undefined ? {} : { gas: BigInt(data.gas) }),
            ...(data.maxFeePerGas === undefined ? {} : { maxFeePerGas: BigInt(data.maxFeePerGas) }),
            ...(data.maxPriorityFeePerGas === undefined
              ? {}
              : { maxPriorityFeePerGas: BigInt(data.maxPriorityFeePerGas) }),
          });
          const receipt = await client.waitForTransactionReceipt({ hash, timeout: PATIENCE_MS });
          if (receipt.status !== "success") {
            throw new LocalTransactionFailed(
              `step ${step.id}: transaction ${hash} on chain ${data.chainId} reverted`,
            );
          }
          const executed = { stepId: step.id, chainId: data.chainId, receipt };
          done.push(executed);
          onDone?.(executed);
        }
      }
      return done;
    },
  };
}
