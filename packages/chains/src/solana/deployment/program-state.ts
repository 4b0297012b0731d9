import { getAddressDecoder } from "@solana/kit";
import { toHex, type Hex } from "@causeway/domain";
import {
  DEPOSITORY_ACCOUNT,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  type AccountFact,
} from "@causeway/families/solana";
import type { NonEvmReads } from "../reads.ts";
import { DEPOSITORY_BYTES, LOADER_BYTES, type ProgramPlan } from "./program-plan.ts";

/** Tags of the loader's accounts (loader-v3-interface/src/state.rs). */
const TAG = { buffer: 1, program: 2, programData: 3 } as const;

/** What `initialize` recorded. */
export interface DepositoryRecord {
  readonly owner: string;
  readonly allocator: string;
  readonly domain: Hex;
}

/** What a cluster already has of a plan. */
export interface ProgramState {
  readonly isDeployed: boolean;
  /** Indexes of chunks that the buffer lacks; undefined: there is no buffer. */
  readonly missingChunks: readonly number[] | undefined;
  /** Undefined: there is none, or no program. */
  readonly upgradeAuthority: string | undefined;
  /** Undefined: not initialized. */
  readonly record: DepositoryRecord | undefined;
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
  readonly depository: AccountFact | undefined;
  readonly vault: AccountFact | undefined;
  readonly owner: AccountFact | undefined;
}

/** Reads what a cluster has of a plan, all at one slot. @throws RpcFault */
export async function readProgramState(
  reads: Pick<NonEvmReads, "accounts">,
  plan: ProgramPlan,
  view: "confirmed" | "finalized",
): Promise<ProgramState> {
  const { accounts, deployer: payer, owner: multisig } = plan;
  const [deployer, program, programData, buffer, depository, vault, owner] = await reads.accounts(
    [
      payer,
      accounts.program,
      plan.programData,
      plan.buffer.address,
      accounts.depository,
      accounts.vault,
      multisig ?? payer,
    ],
    view,
  );
  return judgeProgram(plan, { deployer, program, programData, buffer, depository, vault, owner });
}

/** Whether nothing is left to do, and nothing differs from the plan. */
export function isComplete(plan: ProgramPlan, state: ProgramState): boolean {
  const { isDeployed, record, upgradeAuthority, missingChunks, problems } = state;
  const isDone = isDeployed && record !== undefined && upgradeAuthority === plan.owner;
  return isDone && missingChunks === undefined && problems.length === 0;
}

/** What a deployment would still do, as differences. */
export function unfinished(plan: ProgramPlan, state: ProgramState): readonly string[] {
  if (!state.isDeployed) return ["the program is not deployed"];
  return [
    ...(state.record === undefined ? ["the depository is not initialized"] : []),
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
  if (isDeployed) problems.push(...programProblems(plan, program, programData));
  else if (plan.programAccount === undefined)
    problems.push(`--program: ${plan.accounts.program} is not a deployed program`);
  else if (programData !== undefined)
    problems.push(
      `${plan.programData} has ${programData.lamports} lamports already, so the loader cannot create the program there; use another deployer`,
    );
  const upgradeAuthority = isDeployed ? authorityIn(programData, 12) : undefined;
  if (isDeployed && upgradeAuthority !== plan.owner && upgradeAuthority !== plan.deployer)
    problems.push(
      `the upgrade authority of ${plan.accounts.program} is ${upgradeAuthority ?? "none"}, expected ${plan.owner ?? "none"} (--owner) or the deployer ${plan.deployer}`,
    );
  const record = recordIn(plan, depository);
  if (record !== undefined) problems.push(...recordProblems(plan, record));
  else if (isDeployed && upgradeAuthority !== plan.deployer)
    problems.push(
      `${plan.accounts.program} is not initialized, and only its upgrade authority ${upgradeAuthority ?? "(none)"} can initialize it; deploy another program`,
    );
  const bufferProblem = problemOfBuffer(plan, buffer);
  // Once the program is deployed, no one needs the buffer.
  if (!isDeployed && bufferProblem !== undefined) problems.push(bufferProblem);
  const missingChunks = bufferProblem === undefined ? chunksMissing(plan, buffer) : undefined;
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
    problems,
    lamports,
    ownerProgram: accounts.owner?.owner,
  };
}

/** An account that anyone sent lamports to has no data, and can still be created. */
function hasData(account: AccountFact | undefined): account is AccountFact {
  return account !== undefined && (account.owner !== SYSTEM_PROGRAM || account.data.length > 0);
}

function programProblems(
  { elf, accounts, programData: expected, sha256 }: ProgramPlan,
  program: AccountFact,
  programData: AccountFact | undefined,
): readonly string[] {
  const where = `program ${accounts.program}`;
  if (
    program.owner !== UPGRADEABLE_LOADER ||
    tagOf(program) !== TAG.program ||
    keyAt(program, 4) !== expected
  )
    return [`${where}: an account of ${program.owner} is at this address, expected an upgradeable program`];
  if (programData === undefined || tagOf(programData) !== TAG.programData)
    return [`${where} was closed, and its address cannot be used again; deploy another program`];
  const found = programData.data.subarray(LOADER_BYTES.programDataHeader);
  if (found.length < elf.length) return [`${where} has ${found.length} bytes, expected ${elf.length}`];
  // An account that was made for a longer program has zeros at its end.
  const at = found.findIndex((byte, index) => byte !== (elf[index] ?? 0));
  return at < 0
    ? []
    : [
        `${where} is not this build (${elf.length} bytes, sha256 ${sha256}): byte ${at} is ${found[at]}, expected ${elf[at] ?? 0}`,
      ];
}

function recordIn({ accounts }: ProgramPlan, account: AccountFact | undefined): DepositoryRecord | undefined {
  if (!hasData(account)) return undefined;
  const isRecord =
    account.owner === accounts.program &&
    account.data.length === DEPOSITORY_BYTES &&
    toHex(account.data.subarray(0, 8)) === DEPOSITORY_ACCOUNT;
  return {
    owner: isRecord ? keyAt(account, 8) : account.owner,
    allocator: isRecord ? keyAt(account, 40) : "unknown",
    domain: toHex(isRecord ? account.data.subarray(74, 106) : new Uint8Array(32)),
  };
}

function recordProblems(plan: ProgramPlan, record: DepositoryRecord): readonly string[] {
  const { deployer, allocator, domain, accounts, chainName } = plan;
  if (record.owner !== deployer || record.allocator !== allocator)
    return [
      `the depository ${accounts.depository} was initialized with owner ${record.owner} and allocator ${record.allocator}, expected the deployer ${deployer} (--deployer) and ${allocator} (--allocator). Compare both options first. Only if both are right, someone else initialized program ${accounts.program}, and that allocator can pay out everything that is deposited: deploy another program and use that one`,
    ];
  if (record.domain !== domain)
    return [
      `the depository ${accounts.depository} was initialized for another chain name: its domain is ${record.domain}, expected ${domain} for id ${chainName}; rename the entry or deploy another program`,
    ];
  return [];
}

function problemOfBuffer(plan: ProgramPlan, buffer: AccountFact | undefined): string | undefined {
  if (!hasData(buffer)) return undefined;
  const expected = LOADER_BYTES.bufferHeader + plan.elf.length;
  const authority = authorityIn(buffer, 4);
  const isBuffer = buffer.owner === UPGRADEABLE_LOADER && tagOf(buffer) === TAG.buffer;
  if (isBuffer && authority === plan.deployer && buffer.data.length === expected) return undefined;
  return `buffer ${plan.buffer.address} has ${buffer.data.length} bytes and the authority ${authority ?? "none"}, expected ${expected} bytes and ${plan.deployer}; use another deployer`;
}

function chunksMissing(
  { chunks }: ProgramPlan,
  buffer: AccountFact | undefined,
): readonly number[] | undefined {
  if (!hasData(buffer)) return undefined;
  const content = buffer.data.subarray(LOADER_BYTES.bufferHeader);
  return chunks.flatMap(({ offset, bytes }, index) =>
    bytes.every((byte, at) => byte === content[offset + at]) ? [] : [index],
  );
}

function tagOf({ data }: AccountFact): number {
  return data.length < 4 ? 0 : new DataView(data.buffer, data.byteOffset).getUint32(0, true);
}

/** An optional key: one byte, 1 if there is one, then its 32 bytes. */
function authorityIn(account: AccountFact | undefined, at: number): string | undefined {
  return account?.data[at] === 1 && account.data.length >= at + 33 ? keyAt(account, at + 1) : undefined;
}

function keyAt({ data }: AccountFact, at: number): string {
  return data.length < at + 32 ? "" : getAddressDecoder().decode(data.subarray(at, at + 32));
}
