import { concat, getContractAddress, type Abi, type Address, type Hex } from "viem";
import { approvalProxyAbi, approvalProxyBytecode } from "../generated/approval-proxy.ts";
import { depositAddressAbi } from "../generated/deposit-address.ts";
import {
  depositAddressFactoryAbi,
  depositAddressFactoryBytecode,
} from "../generated/deposit-address-factory.ts";
import { depositoryAbi, depositoryBytecode } from "../generated/depository.ts";
import { multicall3Abi, multicall3Bytecode } from "../generated/multicall3.ts";
import { receiverAbi, receiverBytecode } from "../generated/receiver.ts";
import { routerAbi, routerBytecode } from "../generated/router.ts";
import type { ContractName } from "./builds.ts";
import { create2Address } from "./create2.ts";
import {
  constructorOf,
  type DeploymentPlan,
  type PlannedContract,
  type PlannedCreation,
  type PlannedRead,
} from "./plan.ts";

/** Accounts with rights on an EVM chain, and which optional contracts to deploy. */
export interface ChainPlanInputs {
  readonly owner: Address;
  /** Signs payouts of the Depository. */
  readonly allocator: Address;
  /** Receives the native tokens sent to the Receiver contract. */
  readonly solver: Address;
  /** Sweeps deposit addresses; absent: no DepositAddressFactory. */
  readonly depositAddressOperator?: Address | undefined;
  /** Whether to deploy Multicall3, for a chain that does not have it. */
  readonly multicall3: boolean;
}

/** The contracts of an EVM chain. They have the same addresses on every chain with the same inputs. */
export function planChain(inputs: ChainPlanInputs): DeploymentPlan {
  const { owner, allocator, solver, depositAddressOperator } = inputs;
  const depository = creation("Depository", depositoryAbi, depositoryBytecode, [owner, allocator], {
    owner,
    roles: { "signs payouts": allocator },
    reads: [read(depositoryAbi, "owner", owner), read(depositoryAbi, "allocator", allocator)],
    immutables: {},
    domain: { name: "Depository", version: "1" },
  });
  const router = creation("Router", routerAbi, routerBytecode, [], plain);
  const approvalProxy = creation("ApprovalProxy", approvalProxyAbi, approvalProxyBytecode, [router.address], {
    ...plain,
    immutables: { router: router.address },
  });
  const receiver = creation("Receiver", receiverAbi, receiverBytecode, [solver], {
    ...plain,
    roles: { "receives native tokens": solver },
    reads: [read(receiverAbi, "solver", solver)],
    immutables: { solver },
  });
  const creations = [depository, router, approvalProxy, receiver];
  if (inputs.multicall3) creations.push(creation("Multicall3", multicall3Abi, multicall3Bytecode, [], plain));
  if (depositAddressOperator !== undefined)
    creations.push(depositAddresses(depository.address, owner, depositAddressOperator));
  return { creations };
}

function depositAddresses(depository: Address, owner: Address, operator: Address): PlannedCreation {
  const abi = depositAddressFactoryAbi;
  const args = [depository, owner, operator];
  const created = creation("DepositAddressFactory", abi, depositAddressFactoryBytecode, args, {
    owner,
    roles: { "deposits what deposit addresses receive": operator },
    reads: [read(abi, "owner", owner), read(abi, "operator", operator)],
    immutables: {},
  });
  // The factory's constructor creates the implementation with its first nonce.
  const implementation = getContractAddress({ from: created.address, nonce: 1n });
  const depositAddress: PlannedContract = {
    contract: "DepositAddress",
    address: implementation,
    ...constructorOf(depositAddressAbi, [depository]),
    ...plain,
    immutables: { depository, factory: created.address },
  };
  const [factory] = created.contracts.map((planned) => ({ ...planned, immutables: { implementation } }));
  return { ...created, contracts: factory === undefined ? [] : [factory, depositAddress] };
}

export type PlannedRights = Pick<PlannedContract, "reads" | "roles" | "immutables" | "owner" | "domain">;

const plain: PlannedRights = { reads: [], roles: {}, immutables: {} };

/** A contract that the deterministic deployer creates and that creates no contracts itself. */
export function creation(
  contract: ContractName,
  abi: Abi,
  bytecode: Hex,
  args: readonly unknown[],
  rights: PlannedRights,
): PlannedCreation {
  const constructing = constructorOf(abi, args);
  const creationCode = concat([bytecode, constructing.encodedArguments]);
  const address = create2Address(creationCode);
  return { contract, address, creationCode, contracts: [{ contract, address, ...constructing, ...rights }] };
}

function read(
  abi: Abi,
  functionName: "owner" | "allocator" | "solver" | "operator",
  expected: Address,
): PlannedRead {
  const input = functionName === "operator" ? "depositAddressOperator" : functionName;
  return { abi, functionName, args: [], expected, input };
}
