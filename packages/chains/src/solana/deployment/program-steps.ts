import type { PlainInstruction } from "@causeway/families/solana";
import { lamportTransferInstruction } from "../payment-instructions.ts";
import type { SolanaReads } from "../reads.ts";
import {
  allocateInstruction,
  closeBufferInstruction,
  deployInstruction,
  initializeBufferInstruction,
  setAuthorityInstruction,
  writeInstruction,
  type SeededAccount,
} from "./loader-instructions.ts";
import { DEPOSITORY_BYTES, LOADER_BYTES } from "./program-accounts.ts";
import { initializeInstruction, type ProgramPlan } from "./program-plan.ts";
import type { ProgramState } from "./program-state.ts";

export type StepName = "createBuffer" | "write" | "deploy" | "initialize" | "handOver" | "closeBuffer";

/** One transaction of a deployment. Sent twice, it fails or changes nothing. */
export interface ProgramStep {
  readonly name: StepName;
  /** The name, and the number of the chunk that it writes. */
  readonly label: string;
  readonly instructions: readonly PlainInstruction[];
  /** Compute unit limit. */
  readonly units: number;
}

/** Upper bounds of what transactions compute. */
const UNITS: Readonly<Record<StepName, number>> = {
  createBuffer: 10_000,
  write: 10_000,
  deploy: 50_000,
  initialize: 120_000,
  handOver: 10_000,
  closeBuffer: 10_000,
};
/** Lamports per signature; every transaction has one. */
const SIGNATURE_FEE = 5_000n;

/** Rent-exempt minimums in lamports. */
export interface Rents {
  readonly buffer: bigint;
  readonly program: bigint;
  readonly programData: bigint;
  readonly depository: bigint;
  /** Rent of an account without data, in lamports. */
  readonly empty: bigint;
}

/** @throws RpcFault */
export async function readRents(
  reads: Pick<SolanaReads, "minBalance">,
  { elf }: ProgramPlan,
): Promise<Rents> {
  const [buffer, program, programData, depository, empty] = await Promise.all([
    reads.minBalance(LOADER_BYTES.bufferHeader + elf.length),
    reads.minBalance(LOADER_BYTES.program),
    reads.minBalance(LOADER_BYTES.programDataHeader + elf.length),
    reads.minBalance(DEPOSITORY_BYTES),
    reads.minBalance(0),
  ]);
  return { buffer, program, programData, depository, empty };
}

/** The remaining transactions, in groups: the order within a group does not matter. */
export function remainingSteps(
  plan: ProgramPlan,
  state: ProgramState,
  rents: Rents,
): readonly (readonly ProgramStep[])[] {
  const { deployer, buffer, programAccount, program, programData, owner, chunks, elf, depository } = plan;
  const { lamports } = state;
  const step = (
    name: StepName,
    instructions: readonly PlainInstruction[],
    label: string = name,
  ): ProgramStep => ({ name, label, instructions, units: UNITS[name] });
  /** Not the system program's account creation, which fails if anyone sent lamports to the address. */
  const createInstructions = (
    account: SeededAccount,
    bytes: number,
    missing: bigint,
  ): readonly PlainInstruction[] => [
    ...(missing > 0n ? [lamportTransferInstruction(deployer, account.address, missing)] : []),
    allocateInstruction(account, bytes),
  ];
  const groups: (readonly ProgramStep[])[] = [];
  if (!state.isDeployed && programAccount !== undefined) {
    if (state.missingChunks === undefined)
      groups.push([
        step("createBuffer", [
          ...createInstructions(
            buffer,
            LOADER_BYTES.bufferHeader + elf.length,
            rents.buffer - lamports.buffer,
          ),
          initializeBufferInstruction(buffer.address, deployer),
        ]),
      ]);
    const missing = state.missingChunks ?? chunks.map((_, index) => index);
    groups.push(
      chunks.flatMap(({ offset, bytes }, index) =>
        missing.includes(index)
          ? step(
              "write",
              [writeInstruction(buffer.address, deployer, offset, bytes)],
              `write ${index + 1} of ${chunks.length}`,
            )
          : [],
      ),
      [
        step("deploy", [
          ...createInstructions(programAccount, LOADER_BYTES.program, rents.program - lamports.program),
          deployInstruction({
            payer: deployer,
            authority: deployer,
            program,
            programData,
            buffer: buffer.address,
            maxBytes: elf.length,
          }),
        ]),
      ],
    );
  }
  const handOver = setAuthorityInstruction(programData, deployer, owner);
  // In one transaction, so that the deployer never controls an initialized depository.
  if (depository !== undefined && state.needsInitialization)
    groups.push([step("initialize", [initializeInstruction(plan, depository), handOver])]);
  else if (!state.isDeployed || state.upgradeAuthority !== owner) groups.push([step("handOver", [handOver])]);
  // A transaction of a killed run may have created the buffer again.
  if (state.isDeployed && state.missingChunks !== undefined)
    groups.push([step("closeBuffer", [closeBufferInstruction(buffer.address, deployer)])]);
  return groups.filter((group) => group.length > 0);
}

/** The remaining cost, in lamports. */
export interface ProgramCost {
  /** For accounts that stay, minus the lamports that the buffer returns. */
  readonly rent: bigint;
  readonly fees: bigint;
  /** The required balance of the deployer: both, and the minimum balance of its own account. */
  readonly needed: bigint;
}

/** @param price of a compute unit, in millionths of a lamport */
export function costOf(
  steps: readonly (readonly ProgramStep[])[],
  { lamports, needsInitialization, isDeployed }: ProgramState,
  rents: Rents,
  price: bigint,
): ProgramCost {
  const fees = steps.flat().reduce((sum, step) => sum + feeOf(step, price), 0n);
  const shortfall = (minimum: bigint, balance: bigint): bigint =>
    minimum > balance ? minimum - balance : 0n;
  const programRent = isDeployed
    ? -lamports.buffer
    : shortfall(rents.program, lamports.program) + rents.programData - lamports.buffer;
  const depositoryRent = needsInitialization
    ? shortfall(rents.depository, lamports.depository) + shortfall(rents.empty, lamports.vault)
    : 0n;
  const rent = programRent + depositoryRent;
  // A remaining buffer returns its lamports after everything else was paid.
  const advancedRent = isDeployed ? depositoryRent : rent;
  return { rent, fees, needed: steps.length === 0 ? 0n : advancedRent + fees + rents.empty };
}

/** Maximum cost of a transaction, in lamports. */
export function feeOf({ units }: ProgramStep, price: bigint): bigint {
  return SIGNATURE_FEE + (price * BigInt(units) + 999_999n) / 1_000_000n;
}
