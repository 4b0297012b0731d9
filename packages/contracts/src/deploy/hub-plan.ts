import { concat, type Abi, type Address, type Hex } from "viem";
import { allocatorAbi, allocatorBytecode } from "../generated/allocator.ts";
import { genericMappingAbi, genericMappingBytecode } from "../generated/generic-mapping.ts";
import { hubAbi, hubBytecode } from "../generated/hub.ts";
import { hubSetupAbi, hubSetupBytecode } from "../generated/hub-setup.ts";
import { oracleAbi, oracleBytecode } from "../generated/oracle.ts";
import { oracleMultisigAbi, oracleMultisigBytecode } from "../generated/oracle-multisig.ts";
import { creation } from "./chain-plan.ts";
import type { ContractName } from "./builds.ts";
import { create2Address } from "./create2.ts";
import {
  constructorOf,
  type DeploymentPlan,
  type PlannedContract,
  type PlannedCreation,
  type PlannedRead,
} from "./plan.ts";

/** Accounts with rights on the hub. */
export interface HubPlanInputs {
  readonly owner: Address;
  /** Records the payloads of withdrawals. */
  readonly allocator: Address;
  /** The oracles' accounts; `threshold` of them together sign for the OracleMultisig. */
  readonly oracles: readonly Address[];
  readonly threshold: number;
  /** EIP-712 domain of the Oracle. */
  readonly domain: { readonly name: string; readonly version: string };
}

/** Each of these contracts has one role, which is bit 0. */
const ROLE = 1n;

/** The contracts of the hub. */
export function planHub(inputs: HubPlanInputs): DeploymentPlan {
  const { owner, threshold } = inputs;
  // Sorted, because the order affects the address, and the order in which operators list them must not.
  const oracles = inputs.oracles.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const abi = oracleMultisigAbi;
  const multisig = creation(
    "OracleMultisig",
    abi,
    oracleMultisigBytecode,
    [owner, oracles, BigInt(threshold)],
    {
      owner,
      roles: { [`sign together, any ${threshold} of`]: oracles },
      immutables: {},
      reads: [
        ownerRead(abi, owner),
        { abi, functionName: "signers", args: [], expected: oracles, input: "oracle" },
        { abi, functionName: "threshold", args: [], expected: BigInt(threshold), input: "threshold" },
      ],
    },
  );
  const oracle = multisig.address;
  const mapping = creation("GenericMapping", genericMappingAbi, genericMappingBytecode, [oracle], {
    roles: { "signs entries": oracle },
    immutables: { oracle },
    domain: { name: "GenericMapping", version: "1" },
    reads: [],
  });
  return { creations: [multisig, setup(inputs, oracle), mapping] };
}

/**
 * One transaction creates the contracts that have roles, grants the roles and hands the contracts over, so
 * the deployer's account never owns one.
 */
function setup({ owner, allocator: account, domain }: HubPlanInputs, multisig: Address): PlannedCreation {
  const args = [owner, multisig, account, domain.name, domain.version];
  const created = creation("HubSetup", hubSetupAbi, hubSetupBytecode, args, {
    roles: {},
    immutables: {},
    reads: [],
  });
  const from = created.address;
  const hub = ownedBy(from, owner, "Hub", hubAbi, hubBytecode, [from], {
    roles: {},
    immutables: {},
  });
  const oracle = ownedBy(
    from,
    owner,
    "Oracle",
    oracleAbi,
    oracleBytecode,
    [from, hub.address, domain.name, domain.version],
    {
      roles: { "oracle role": multisig },
      immutables: { HUB: hub.address },
      domain,
    },
  );
  const allocator = ownedBy(from, owner, "Allocator", allocatorAbi, allocatorBytecode, [from, multisig], {
    roles: { "allocator role": account },
    immutables: { oracle: multisig },
    domain: { name: "AllocatorSpender", version: "1" },
  });
  const immutables = { hub: hub.address, oracle: oracle.address, allocator: allocator.address };
  return {
    ...created,
    contracts: [
      ...created.contracts.map((planned) => ({ ...planned, immutables })),
      {
        ...hub,
        roles: { "minter role": oracle.address },
        ...roleOf(hub, hubAbi, oracle.address, "build"),
      },
      { ...oracle, ...roleOf(oracle, oracleAbi, multisig, "oracle") },
      { ...allocator, ...roleOf(allocator, allocatorAbi, account, "allocator") },
    ],
  };
}

function ownedBy(
  from: Address,
  owner: Address,
  contract: ContractName,
  abi: Abi,
  bytecode: Hex,
  args: readonly unknown[],
  rights: Pick<PlannedContract, "roles" | "immutables" | "domain">,
): PlannedContract {
  const construction = constructorOf(abi, args);
  const address = create2Address(concat([bytecode, construction.encodedArguments]), from);
  return { contract, address, ...construction, owner, reads: [ownerRead(abi, owner)], ...rights };
}

function ownerRead(abi: Abi, owner: Address): PlannedRead {
  return { abi, functionName: "owner", args: [], expected: owner, input: "owner" };
}

/** The checks that `holder` is the only account with a role. */
function roleOf(
  { reads }: Pick<PlannedContract, "reads">,
  abi: Abi,
  holder: Address,
  input: PlannedRead["input"],
): Pick<PlannedContract, "reads" | "roleHolders"> {
  const read = { abi, functionName: "rolesOf", args: [holder], expected: ROLE, input };
  return { reads: [...reads, read], roleHolders: [holder] };
}
