import {
  connectForDeployment,
  estimateDeployment,
  inspectDeployment,
  maxGasPrice,
  readDifferences,
  readFees,
  type DeploymentChain,
  type DeploymentEstimate,
  type DeploymentFees,
  type InspectedContract,
} from "@causeway/chains/deployment";
import { formatEther, formatGwei, zeroAddress, type Address, type Hex } from "viem";
import { isReplaced, plannedFields } from "./chain-entries.ts";
import type { DeployInputs } from "./deploy-inputs.ts";
import type { DeployTarget } from "./deploy-target.ts";

/** A chain whose plan was compared with the deployed contracts. */
export interface PreparedTarget {
  readonly target: DeployTarget;
  readonly chain: DeploymentChain;
  readonly inspected: readonly InspectedContract[];
  readonly estimate: DeploymentEstimate;
  readonly fees: DeploymentFees;
  /** The deployer's balance in wei; undefined without a deployer's key. */
  readonly balance: bigint | undefined;
  /** Code at the address of `--owner`; "0x" if there is none. */
  readonly ownerCode: Hex;
}

/** The plan was refused; the message lists the problems. */
export class DeploymentRefused extends Error {
  override readonly name = "DeploymentRefused";
}

/**
 * Connects to a target, and determines which contracts are deployed and what the missing ones cost. Sends
 * nothing.
 */
export async function prepareTarget(
  target: DeployTarget,
  inputs: DeployInputs,
  deployer: Address | undefined,
): Promise<PreparedTarget> {
  const { plan, chainId } = target;
  const chain = connectForDeployment(chainId, target.rpcUrls);
  try {
    const { client } = chain;
    const [inspected, fees, balance, ownerCode = "0x"] = await Promise.all([
      inspectDeployment(client, plan, chainId),
      readFees(client, inputs.maxFeeWei),
      deployer === undefined ? undefined : client.getBalance({ address: deployer }),
      client.getCode({ address: inputs.owner }),
    ]);
    const estimate = await estimateDeployment(chain, plan, deployer ?? zeroAddress, fees);
    return { target, chain, inspected, estimate, fees, balance, ownerCode };
  } catch (error) {
    await chain.close();
    throw error;
  }
}

/**
 * Every reason not to apply a plan: an owner without code, contracts that differ from the plan, a
 * configuration with other addresses, and too low a balance.
 */
export async function problemsOf(
  { target, chain, inspected, estimate, balance, ownerCode }: PreparedTarget,
  inputs: DeployInputs,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const { owner } = inputs;
  if (!inputs.isOwnerAccount && isAccount(ownerCode))
    problems.push(
      `--owner: ${owner} is not a contract. Ownership should go to a multisignature wallet that is deployed on this chain; if the address is an account whose key you hold, add --owner-is-account`,
    );
  for (const { planned, differences } of inspected)
    if (differences.length > 0)
      problems.push(`${planned.contract} at ${planned.address} is not as planned: ${differences.join("; ")}`);
  problems.push(...(await replacementProblems(target, chain, inputs)));
  const needed = neededWei(estimate);
  if (balance !== undefined && balance < needed)
    problems.push(
      `the deployer has ${formatEther(balance)} ${target.nativeSymbol}, and the transactions may cost ${formatEther(needed)}; send it the difference`,
    );
  return problems.map((problem) => `${target.name}: ${problem}`);
}

/**
 * A problem for each chain on which the owner's code differs from the first chain: someone else may have
 * deployed another contract at the address. Equal code does not prove equal signers.
 */
export function ownerProblems(
  prepared: readonly PreparedTarget[],
  { owner, canOwnerDiffer }: Pick<DeployInputs, "owner" | "canOwnerDiffer">,
): readonly string[] {
  const [first, ...others] = prepared;
  if (first === undefined || canOwnerDiffer) return [];
  return others
    .filter(({ ownerCode }) => ownerCode.toLowerCase() !== first.ownerCode.toLowerCase())
    .map(
      ({ target }) =>
        `${target.name}: --owner: ${owner} has different code than on ${first.target.name}, so it may belong to someone else. Check who controls it on both chains, then add --owner-may-differ`,
    );
}

/**
 * Whether the address has a private key. An account that delegated to code (EIP-7702) is still controlled by
 * one key.
 */
function isAccount(code: Hex): boolean {
  return code === "0x" || code.toLowerCase().startsWith("0xef0100");
}

async function replacementProblems(
  target: DeployTarget,
  { client }: DeploymentChain,
  { canReplace }: DeployInputs,
): Promise<readonly string[]> {
  const replaced = plannedFields(target).filter(isReplaced);
  if (replaced.length === 0 || (canReplace && target.kind === "chain")) return [];
  const contracts = target.plan.creations.flatMap((creation) => creation.contracts);
  return await Promise.all(
    replaced.map(async ({ path, planned, configured = "" }) => {
      const contract = contracts.find(({ address }) => address === planned);
      const why =
        contract === undefined ? [] : await readDifferences(client, contract, configured as Address);
      const remedy =
        target.kind === "hub"
          ? "The balances on a hub cannot move to another one: use the options it was deployed with"
          : "Use the options it was deployed with, or add --replace";
      return `${path.join(".")} is ${configured} in the configuration, and the plan has ${planned}: ${why.join("; ")}. ${remedy}`;
    }),
  );
}

/** The most that all transactions of an estimate can cost, in wei. */
export function neededWei({ creations, deployerWei = 0n }: DeploymentEstimate): bigint {
  return creations.reduce((sum, { maxCost }) => sum + maxCost, deployerWei);
}

/** The lines of a plan: one per contract, then the sum. */
export function planLines(prepared: PreparedTarget): readonly object[] {
  const { target, inspected, estimate, fees, balance } = prepared;
  const { name, chainId, nativeSymbol } = target;
  const amount = (wei: bigint): string => `${formatEther(wei)} ${nativeSymbol}`;
  const lines = inspected.map(({ planned, state }) => {
    const { contract, address, constructorArguments, owner, roles } = planned;
    const cost = estimate.creations.find(({ creation }) => creation.address === address);
    return {
      chain: name,
      contract,
      address,
      state,
      constructorArguments,
      owner: owner ?? null,
      roles,
      ...(cost !== undefined && { gas: cost.gas, cost: amount(cost.cost) }),
    };
  });
  const { creations, deployerWei } = estimate;
  const summary = {
    chain: name,
    chainId,
    transactions: creations.length,
    gas: creations.reduce((total, { gas }) => total + gas, 0n),
    gasPriceGwei: formatGwei(fees.current),
    maxGasPriceGwei: formatGwei(maxGasPrice(fees)),
    cost: amount(creations.reduce((total, { cost }) => total + cost, deployerWei ?? 0n)),
    maxCost: amount(neededWei(estimate)),
    ...(deployerWei !== undefined && {
      deterministicDeployer: `missing; creating it costs up to ${amount(10n ** 16n)}`,
    }),
    ...(balance !== undefined && { deployerBalance: amount(balance) }),
  };
  return [...lines, summary];
}
