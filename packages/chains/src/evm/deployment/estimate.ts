import {
  create2Calldata,
  deterministicDeployer,
  deterministicDeployerCode,
  deterministicDeployerCreator,
  type DeploymentPlan,
  type PlannedCreation,
} from "@causeway/contracts/deploy";
import { BaseError, type Address, type PublicClient } from "viem";
import { createDataFees } from "../data-fee.ts";
import type { DeploymentChain } from "./deployment-chain.ts";
import { maxGasPrice, type DeploymentFees } from "./fees.ts";

/** A transaction that a plan still needs. */
export interface EstimatedCreation {
  readonly creation: PlannedCreation;
  /** Gas limit. */
  readonly gas: bigint;
  /** Wei at the current gas price, with the data fee of an OP Stack rollup. */
  readonly cost: bigint;
  /** Maximum cost, in wei. */
  readonly maxCost: bigint;
}

export interface DeploymentEstimate {
  readonly creations: readonly EstimatedCreation[];
  /** Wei to fund the account that creates the missing deterministic deployer. */
  readonly deployerWei: bigint | undefined;
}

/** A constructor reverts, or the chain lacks what the code needs. */
export class CreationFails extends Error {
  override readonly name = "CreationFails";
}

/** The deterministic deployer's address has other code. */
export class WrongDeterministicDeployer extends Error {
  override readonly name = "WrongDeterministicDeployer";
}

/** The contracts of a plan that have no code at a block. Default: the newest block. */
export async function missingCreations(
  client: PublicClient,
  { creations }: DeploymentPlan,
  block?: bigint,
): Promise<readonly PlannedCreation[]> {
  const blockOption = block === undefined ? {} : { blockNumber: block };
  const codes = await Promise.all(
    creations.map(({ address }) => client.getCode({ address, ...blockOption })),
  );
  return creations.filter((_, index) => (codes[index] ?? "0x") === "0x");
}

/** @throws WrongDeterministicDeployer */
export async function hasDeterministicDeployer(client: PublicClient): Promise<boolean> {
  const code = (await client.getCode({ address: deterministicDeployer })) ?? "0x";
  if (code !== "0x" && code.toLowerCase() !== deterministicDeployerCode)
    throw new WrongDeterministicDeployer(
      `the code at ${deterministicDeployer} is not the deterministic deployer's, so contracts would not get the planned addresses`,
    );
  return code !== "0x";
}

/**
 * The cost of a plan's missing contracts. The gas limit has a margin of a fifth, because the deterministic
 * deployer passes on only 63/64 of it.
 *
 * @throws CreationFails, WrongDeterministicDeployer
 */
export async function estimateDeployment(
  { client, transport, chainId }: DeploymentChain,
  plan: DeploymentPlan,
  from: Address,
  fees: DeploymentFees,
): Promise<DeploymentEstimate> {
  const missing = await missingCreations(client, plan);
  const dataFee = createDataFees(transport, chainId);
  const creations = await Promise.all(
    missing.map(async (creation) => {
      const gas = ((await creationGas(client, creation, from)) * 6n) / 5n;
      const data = create2Calldata(creation.creationCode);
      const fee = await dataFee({ to: toDeployer, data, value: 0n });
      return { creation, gas, cost: gas * fees.current + fee, maxCost: gas * maxGasPrice(fees) + fee };
    }),
  );
  if (await hasDeterministicDeployer(client)) return { creations, deployerWei: undefined };
  const { address, wei } = deterministicDeployerCreator;
  const balance = await client.getBalance({ address });
  return { creations, deployerWei: balance >= wei ? 0n : wei - balance };
}

const toDeployer = deterministicDeployer.toLowerCase() as `0x${string}`;

/**
 * Estimates a plain creation: it costs the same, needs no deterministic deployer, and returns the reason of a
 * revert.
 */
async function creationGas(client: PublicClient, creation: PlannedCreation, from: Address): Promise<bigint> {
  try {
    return await client.estimateGas({ account: from, data: creation.creationCode });
  } catch (error) {
    const reason = error instanceof BaseError ? error.shortMessage : String(error);
    throw new CreationFails(`creation of ${creation.contract} fails: ${reason}`, { cause: error });
  }
}
