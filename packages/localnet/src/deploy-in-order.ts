import { create2Calldata, deterministicDeployer, type DeploymentPlan } from "@causeway/contracts/deploy";
import { getContractAddress, parseEther, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { giveNative } from "./give-native.ts";
import {
  createLocalClient,
  LocalTransactionFailed,
  sendPipelined,
  type NodeAddress,
} from "@causeway/testkit";

const deployer = localAccount("deployer");

/** Pays the deployer's gas and the WETH that it adds to pools. */
export const deployerWei = parseEther("100000");

/**
 * A contract to create: its creation code with the encoded arguments of its constructor, or the calldata for
 * the deterministic deployer.
 */
export interface Creation {
  readonly label: string;
  readonly data: Hex;
  readonly to?: Address;
}

/**
 * The creations of a plan. Each uses one nonce of the deployer, but the contract's address does not depend on
 * the nonce.
 */
export function plannedCreations({ creations }: DeploymentPlan): Creation[] {
  return creations.map(({ contract, creationCode }) => ({
    label: contract,
    to: deterministicDeployer,
    data: create2Calldata(creationCode),
  }));
}

/**
 * The address of the contract that the deployer's n-th transaction creates. The order of creations is
 * therefore part of the configuration.
 */
export function nthDeployment(nonce: number): Address {
  return getContractAddress({ from: deployer.address, nonce: BigInt(nonce) });
}

/**
 * Creates contracts on a fresh chain: those of a plan at their planned addresses, all others at addresses
 * that follow from their position in the order.
 *
 * @throws LocalTransactionFailed if the chain is not fresh or a constructor reverts
 */
export async function deployInOrder(node: NodeAddress, creations: readonly Creation[]): Promise<void> {
  const client = createLocalClient(node);
  const from = privateKeyToAccount(deployer.privateKey);
  const [nonce] = await Promise.all([
    client.getTransactionCount({ address: from.address }),
    giveNative(client, [{ address: from.address, value: deployerWei }]),
  ]);
  if (nonce !== 0) {
    throw new LocalTransactionFailed(
      `chain ${node.chainId} is not new: its deployer has already sent ${nonce} transactions`,
    );
  }
  const calls = creations.map((creation) => ({ ...creation, label: `creation of ${creation.label}` }));
  const receipts = await sendPipelined(client, from, calls, 7_000_000n);
  receipts.forEach((receipt, index) => {
    if (calls[index]?.to !== undefined) return;
    if (receipt.contractAddress?.toLowerCase() !== nthDeployment(index).toLowerCase()) {
      throw new LocalTransactionFailed(
        `${calls[index]?.label} was deployed at unexpected address ${receipt.contractAddress}`,
      );
    }
  });
}
