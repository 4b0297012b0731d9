import { encodeFunctionData, erc20Abi, maxUint256, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { LocalAccount } from "./accounts.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";

/**
 * Approves a spender without a limit. Operators do this once for each token that fills with destination calls
 * use.
 *
 * @throws LocalTransactionFailed
 */
export async function approveLocal(
  node: NodeAddress,
  owner: LocalAccount,
  spender: Address,
  tokens: readonly Address[],
): Promise<void> {
  const calls = tokens.map((to) => ({
    label: `approval of ${to}`,
    to,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, maxUint256] }),
  }));
  await sendPipelined(createLocalClient(node), privateKeyToAccount(owner.privateKey), calls, 100_000n);
}
