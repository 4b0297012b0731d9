import type { AccountFact } from "@causeway/families/solana";
import type { SolanaReads } from "../reads.ts";
import {
  bufferIn,
  buildDifference,
  hasData,
  recordIn,
  upgradeAuthorityIn,
  type DepositoryRecord,
} from "./program-accounts.ts";
import { NO_OWNER, type DepositoryPlan, type ProgramPlan } from "./program-plan.ts";

/** What a cluster already has of a plan. */
export interface ProgramState {
  readonly isDeployed: boolean;
  /** Indexes of chunks that the buffer lacks; undefined: there is no buffer. */
  readonly missingChunks: readonly number[] | undefined;
  /** Undefined: there is none, or the program is not deployed. */
  readonly upgradeAuthority: string | undefined;
  /** Undefined: not initialized, or the program has no state. */
  readonly record: DepositoryRecord | undefined;
  readonly needsInitialization: boolean;
  /** Differences that a deployment cannot resolve, each with the found and the expected value. */
  readonly problems: readonly string[];
  readonly lamports: Readonly<Record<keyof Accounts, bigint>>;
  /** The program that owns the account of the plan's owner; undefined: there is no account. */
  readonly ownerProgram: string | undefined;
}

interface Accounts {
  readonly deployer: AccountFact | undefined;
  readonly program: AccountFact | undefined;
  readonly programData: AccountFact | undefined;
  readonly buffer: AccountFact | undefined;
  readonly owner: AccountFact | undefined;
  /** Undefined also if the program has no state. */
  readonly depository: AccountFact | undefined;
  readonly vault: AccountFact | undefined;
}

/** Reads what a cluster has of a plan, all at one slot. @throws RpcFault */
export async function readProgramState(
  reads: Pick<SolanaReads, "accounts">,
  plan: ProgramPlan,
  view: "confirmed" | "finalized",
): Promise<ProgramState> {
  const { depository: planned, deployer: payer } = plan;
  const [deployer, program, programData, buffer, owner, depository, vault] = await reads.accounts(
    [
      payer,
      plan.program,
      plan.programData,
      plan.buffer.address,
      plan.owner ?? payer,
      ...(planned === undefined ? [] : [planned.accounts.depository, planned.accounts.vault]),
    ],
    view,
  );
  return judgeProgram(plan, { deployer, program, programData, buffer, owner, depository, vault });
}

/** Whether everything is deployed, without any difference from the plan. */
export function isComplete(plan: ProgramPlan, state: ProgramState): boolean {
  const { isDeployed, needsInitialization, upgradeAuthority, missingChunks, problems } = state;
  const isDone = isDeployed && !needsInitialization && upgradeAuthority === plan.owner;
  return isDone && missingChunks === undefined && problems.length === 0;
}

/** The differences that a deployment would still resolve, each with the found and the expected value. */
export function remainingDifferences(plan: ProgramPlan, state: ProgramState): readonly string[] {
  if (!state.isDeployed) return ["the program is not deployed"];
  return [
    ...(state.needsInitialization ? ["the depository is not initialized"] : []),
    ...(state.upgradeAuthority === plan.owner
      ? []
      : [
          `the upgrade authority is ${state.upgradeAuthority ?? "none"}, expected ${plan.owner ?? "none"} (--owner)`,
        ]),
  ];
}

export function judgeProgram(plan: ProgramPlan, accounts: Accounts): ProgramState {
  const { program, programData, buffer, depository } = accounts;
  const problems: string[] = [];
  const isDeployed = hasData(program);
  const difference = isDeployed ? buildDifference(plan, program, programData) : undefined;
  if (difference !== undefined) problems.push(difference);
  if (!isDeployed && plan.programAccount === undefined)
    problems.push(`${plan.program} is not a deployed program`);
  else if (!isDeployed && programData !== undefined)
    problems.push(
      `${plan.programData} has ${programData.lamports} lamports already, so the loader cannot create the program there; use another deployer`,
    );
  const upgradeAuthority = isDeployed ? upgradeAuthorityIn(programData) : undefined;
  if (isDeployed && upgradeAuthority !== plan.owner && upgradeAuthority !== plan.deployer)
    problems.push(
      `the upgrade authority of ${plan.program} is ${upgradeAuthority ?? "none"}, expected ${plan.owner ?? "none"} (--owner) or the deployer ${plan.deployer}`,
    );
  const record = plan.depository && recordIn(plan.program, depository);
  const needsInitialization = plan.depository !== undefined && record === undefined;
  if (plan.depository !== undefined && record !== undefined)
    problems.push(...recordProblems(plan, plan.depository, record));
  else if (needsInitialization && isDeployed && upgradeAuthority !== plan.deployer)
    problems.push(
      `${plan.program} is not initialized, and only its upgrade authority ${upgradeAuthority ?? "(none)"} can initialize it; deploy another program`,
    );
  const bufferProblem = problemOfBuffer(plan, buffer);
  // Once the program is deployed, the buffer is not needed.
  if (!isDeployed && bufferProblem !== undefined) problems.push(bufferProblem);
  const missingChunks = bufferProblem === undefined ? findMissingChunks(plan, buffer) : undefined;
  const lamports = Object.fromEntries(
    Object.entries(accounts).map(([name, account]: [string, AccountFact | undefined]) => [
      name,
      account?.lamports ?? 0n,
    ]),
  ) as Record<keyof Accounts, bigint>;
  return {
    isDeployed,
    missingChunks,
    upgradeAuthority,
    record,
    needsInitialization,
    problems,
    lamports,
    ownerProgram: accounts.owner?.owner,
  };
}

function recordProblems(
  { program }: ProgramPlan,
  { owner, allocator, domain, accounts, chainName }: DepositoryPlan,
  record: DepositoryRecord,
): readonly string[] {
  if (record.owner !== (owner ?? NO_OWNER) || record.allocator !== allocator)
    return [
      `the depository ${accounts.depository} was initialized with owner ${record.owner} and allocator ${record.allocator}, expected ${owner ?? "none"} (--owner) and ${allocator} (--allocator). Compare both options first. Only if both are right, someone else initialized program ${program}, and that allocator can pay out everything that is deposited: deploy another program and use that one`,
    ];
  if (record.domain !== domain)
    return [
      `the depository ${accounts.depository} was initialized for another chain name: its domain is ${record.domain}, expected ${domain} for id ${chainName}; rename the entry or deploy another program`,
    ];
  return [];
}

function problemOfBuffer(plan: ProgramPlan, account: AccountFact | undefined): string | undefined {
  if (!hasData(account)) return undefined;
  const buffer = bufferIn(account);
  const isUsable = buffer?.authority === plan.deployer && buffer.content.length === plan.elf.length;
  if (isUsable) return undefined;
  return `buffer ${plan.buffer.address} has ${account.data.length} bytes and the authority ${buffer?.authority ?? "none"}, expected a buffer for ${plan.elf.length} bytes and ${plan.deployer}; use another deployer`;
}

function findMissingChunks(
  { chunks }: ProgramPlan,
  account: AccountFact | undefined,
): readonly number[] | undefined {
  const buffer = hasData(account) ? bufferIn(account) : undefined;
  if (buffer === undefined) return undefined;
  return chunks.flatMap(({ offset, bytes }, index) =>
    bytes.every((byte, position) => byte === buffer.content[offset + position]) ? [] : [index],
  );
}
