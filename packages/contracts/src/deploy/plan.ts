import { encodeAbiParameters, type Abi, type AbiParameter, type Address, type Hex } from "viem";
import type { ContractName } from "./builds.ts";

/** A value that a contract must return once it is deployed. */
export interface PlannedRead {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
  readonly expected: Address | bigint | readonly Address[];
  /** The input that determines the value, for the error message if the value differs. */
  readonly input: PlanInput;
}

/** Inputs of a plan, by the name of the option that sets each. */
export type PlanInput =
  | "owner"
  | "allocator"
  | "solver"
  | "depositAddressOperator"
  | "oracle"
  | "threshold"
  | "domain"
  | "build";

/** A contract of a plan. Its address depends only on its code and constructor arguments. */
export interface PlannedContract {
  readonly contract: ContractName;
  readonly address: Address;
  /** By the parameter's name in Solidity. */
  readonly constructorArguments: Readonly<Record<string, unknown>>;
  readonly encodedArguments: Hex;
  readonly reads: readonly PlannedRead[];
  /** Absent: the contract has no owner. */
  readonly owner?: Address;
  /** Accounts with other rights, by the right. */
  readonly roles: Readonly<Record<string, Address | readonly Address[]>>;
  /**
   * Accounts that must have roles according to `rolesOf`, and no others. Absent: the contract has no roles.
   */
  readonly roleHolders?: readonly Address[];
  /** Values in its code, by the name of the immutable; those of its EIP-712 domain follow from `domain`. */
  readonly immutables: Readonly<Record<string, Address>>;
  readonly domain?: { readonly name: string; readonly version: string };
}

/** One transaction to the deterministic deployer. */
export interface PlannedCreation {
  readonly contract: ContractName;
  readonly address: Address;
  readonly creationCode: Hex;
  /** The contract itself and those that its constructor creates. */
  readonly contracts: readonly PlannedContract[];
}

export interface DeploymentPlan {
  /** Independent of each other: they can be sent in any order, and some may exist already. */
  readonly creations: readonly PlannedCreation[];
}

/** @throws RangeError if the plan does not contain the contract */
export function plannedAddress(plan: DeploymentPlan, contract: ContractName): Address {
  const found = plan.creations
    .flatMap(({ contracts }) => contracts)
    .find((planned) => planned.contract === contract);
  if (found === undefined) throw new RangeError(`invariant violated: the plan has no ${contract}`);
  return found.address;
}

/** Constructor arguments by name, and encoded. */
export function constructorOf(
  abi: Abi,
  values: readonly unknown[],
): Pick<PlannedContract, "constructorArguments" | "encodedArguments"> {
  const inputs: readonly AbiParameter[] = abi.find((item) => item.type === "constructor")?.inputs ?? [];
  const named = inputs.map(({ name = "" }, index) => [name.replace(/_$/, ""), values[index]] as const);
  return {
    constructorArguments: Object.fromEntries(named),
    encodedArguments: encodeAbiParameters(inputs, values),
  };
}
