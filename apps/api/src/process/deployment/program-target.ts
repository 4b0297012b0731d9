import {
  connectForProgram,
  costOf,
  planProgram,
  programElf,
  readProgramState,
  readRents,
  remainingSteps,
  type Payer,
  type ProgramChain,
  type ProgramCost,
  type ProgramLocation,
  type ProgramPlan,
  type ProgramState,
  type ProgramStep,
  type Rents,
} from "@causeway/chains/solana-deployment";
import { ConfigError, type Env } from "@causeway/config";
import { formatUnits } from "viem";
import { isReplaced, plannedFields, type EntryTarget } from "./chain-entries.ts";
import { connectedEntry, type NamedEntry } from "./deploy-target.ts";
import { textAt } from "./entry-fields.ts";
import type { ProgramDeployInputs } from "./program-inputs.ts";

/** A configured chain and the plan of its depository program. */
export interface ProgramTarget extends EntryTarget {
  readonly rpcUrls: readonly string[];
  readonly nativeSymbol: string;
  /** Undefined: not configured. */
  readonly genesisHash: string | undefined;
  readonly plan: ProgramPlan;
}

/** The account that deploys. Without its key, only programs with a known address can be examined. */
export interface ProgramDeployer {
  /** In base58. */
  readonly address: string;
  readonly key: Payer | undefined;
}

/** @throws ConfigError when an RPC URL is missing, or the program's address is unknown */
export async function programTarget(
  { entry, fileName }: Pick<NamedEntry, "entry" | "fileName">,
  inputs: ProgramDeployInputs,
  deployer: ProgramDeployer,
  env: Env,
): Promise<ProgramTarget> {
  const connected = connectedEntry(entry, fileName, env);
  const { depository } = inputs;
  const path = [depository === undefined ? "depositAddressProgram" : "depository"];
  const program = inputs.program ?? (deployer.key ? undefined : textAt(connected.resolved, path));
  const plan = await planProgram({
    elf: programElf(depository === undefined ? "deposit-address" : "depository"),
    deployer: deployer.address,
    owner: depository?.owner,
    location: locationOf(program, deployer.key, `${path[0] ?? ""} of ${connected.name}`),
    depository: depository && {
      chainName: connected.name,
      owner: depository.owner,
      allocator: depository.allocator,
    },
  });
  return {
    kind: "program",
    ...connected,
    genesisHash: textAt(connected.resolved, ["additionalData", "genesisHash"]),
    plan,
    addresses: [{ path, planned: plan.program }, ...plannedRoles(plan)],
  };
}

function locationOf(program: string | undefined, key: Payer | undefined, field: string): ProgramLocation {
  if (program !== undefined) return { kind: "existing", program };
  if (key !== undefined) return { kind: "new", key };
  throw new ConfigError([
    `DEPLOYER_SOLANA_KEY is required to plan a program, because its address follows from the key. To examine a deployed one without the key, add --program or set ${field}`,
  ]);
}

/** The roles that `operator doctor` compares with the chain. */
function plannedRoles({ depository, owner: upgradeAuthority }: ProgramPlan): EntryTarget["addresses"] {
  if (depository === undefined) return [];
  const { owner, allocator } = depository;
  const roles = { upgradeAuthority: upgradeAuthority ?? "none", owner: owner ?? "none", allocator };
  return Object.entries(roles).map(([role, planned]) => ({ path: ["depositoryRoles", role], planned }));
}

/** A target that was compared with its cluster. */
export interface PreparedProgram {
  readonly target: ProgramTarget;
  readonly chain: ProgramChain;
  readonly state: ProgramState;
  readonly rents: Rents;
  readonly steps: readonly (readonly ProgramStep[])[];
  /** Bid for a compute unit, in millionths of a lamport. */
  readonly price: bigint;
  readonly cost: ProgramCost;
}

/**
 * Lowest bid for a compute unit, in millionths of a lamport. The accounts of a deployment are new, so there
 * are no recent bids for them. Costs about 0.00005 SOL for all transactions.
 */
const MIN_COMPUTE_PRICE = 100_000n;

/** Connects to a target, and determines its state and what the remaining steps cost. Sends nothing. */
export async function prepareProgram(
  target: ProgramTarget,
  { maxComputePrice }: Pick<ProgramDeployInputs, "maxComputePrice">,
): Promise<PreparedProgram> {
  const { plan } = target;
  const chain = await connectForProgram(target.rpcUrls, target.genesisHash);
  try {
    const { reads } = chain;
    const [state, rents, recentPrice] = await Promise.all([
      readProgramState(reads, plan, "confirmed"),
      readRents(reads, plan),
      reads.computePrice([plan.buffer.address, plan.deployer]),
    ]);
    const steps = remainingSteps(plan, state, rents);
    const floor = maxComputePrice < MIN_COMPUTE_PRICE ? maxComputePrice : MIN_COMPUTE_PRICE;
    const price = recentPrice > floor ? recentPrice : floor;
    return { target, chain, state, rents, steps, price, cost: costOf(steps, state, rents, price) };
  } catch (error) {
    await chain.close();
    throw error;
  }
}

/** Reasons to refuse a plan. */
export function programProblems(
  { target, state, cost, price, steps }: PreparedProgram,
  { maxComputePrice, canReplace, depository }: ProgramDeployInputs,
  hasDeployerKey: boolean,
): readonly string[] {
  const { owner, canOwnerBeNew = false } = depository ?? {};
  const problems = [...state.problems];
  const balance = state.lamports.deployer;
  if (hasDeployerKey && steps.length > 0 && balance < cost.needed)
    problems.push(
      `the deployer ${target.plan.deployer} has ${sol(balance)} SOL, and ${sol(cost.needed)} SOL are needed; send it ${sol(cost.needed - balance)} SOL`,
    );
  if (steps.length > 0 && price > maxComputePrice)
    problems.push(
      `a compute unit costs ${price} micro-lamports, more than --max-compute-price ${maxComputePrice}; wait, or raise the limit`,
    );
  if (owner !== undefined && state.ownerProgram !== undefined && state.ownerProgram !== SYSTEM_PROGRAM)
    problems.push(
      `--owner: ${owner} is an account of program ${state.ownerProgram}, which may be unable to sign; use the vault of the multisignature wallet (Squads: its vault, not the multisig account)`,
    );
  const isOwnerNew = owner !== undefined && state.ownerProgram === undefined;
  if (isOwnerNew && !canOwnerBeNew && state.upgradeAuthority !== owner)
    problems.push(
      `--owner: ${owner} has no account on this chain, so the address may have a typo, and the upgrade authority would be lost; fund the vault first (0.001 SOL is enough), or add --owner-may-be-new once you have compared the whole address`,
    );
  for (const { path, configured, planned } of plannedFields(target).filter(isReplaced))
    if (!canReplace)
      problems.push(
        `${path.join(".")} is ${configured} in the configuration, and the plan has ${planned}. Use the options and the deployer it was deployed with, ${path.length === 1 ? `or --program ${configured}, ` : ""}or add --replace`,
      );
  return problems.map((problem) => `${target.name}: ${problem}`);
}

const SYSTEM_PROGRAM = "1".repeat(32);

export function sol(lamports: bigint): string {
  return formatUnits(lamports, 9);
}
