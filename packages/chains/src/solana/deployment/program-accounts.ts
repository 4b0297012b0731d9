import { getAddressDecoder } from "@solana/kit";
import { toHex, type Hex } from "@causeway/domain";
import {
  DEPOSITORY_ACCOUNT,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  type AccountFact,
} from "@causeway/families/solana";
import type { ProgramBuild } from "./program-plan.ts";

/** What accounts of the loader and of a depository contain. Pure. */

/** Sizes in bytes: of a program account, and of the headers before the ELF in buffer and data accounts. */
export const LOADER_BYTES = { program: 36, bufferHeader: 37, programDataHeader: 45 } as const;
/** Size of the account in which the depository keeps owner, allocator and domain, in bytes. */
export const DEPOSITORY_BYTES = 106;
/** Tags of the loader's accounts (loader-v3-interface/src/state.rs). */
const TAG = { buffer: 1, program: 2, programData: 3 } as const;

/** What `initialize` recorded. */
export interface DepositoryRecord {
  readonly owner: string;
  readonly allocator: string;
  readonly domain: Hex;
}

/** An account that anyone sent lamports to has no data, and can still be created. */
export function hasData(account: AccountFact | undefined): account is AccountFact {
  return account !== undefined && (account.owner !== SYSTEM_PROGRAM || account.data.length > 0);
}

/** How a deployed program differs from a build. Undefined: it does not. */
export function buildDifference(
  { elf, sha256, program: programAddress, programData: expected }: ProgramBuild,
  program: AccountFact,
  programData: AccountFact | undefined,
): string | undefined {
  const isProgram =
    program.owner === UPGRADEABLE_LOADER && tagOf(program) === TAG.program && keyAt(program, 4) === expected;
  if (!isProgram)
    return `program ${programAddress}: an account of ${program.owner} is at this address, expected an upgradeable program`;
  if (programData === undefined || tagOf(programData) !== TAG.programData)
    return `program ${programAddress} was closed, and its address cannot be used again; deploy another program`;
  const deployed = programData.data.subarray(LOADER_BYTES.programDataHeader);
  if (deployed.length < elf.length)
    return `program ${programAddress} has ${deployed.length} bytes, expected ${elf.length}`;
  // An account that was made for a longer program has zeros at its end.
  const firstDifference = deployed.findIndex((byte, index) => byte !== (elf[index] ?? 0));
  return firstDifference < 0
    ? undefined
    : `program ${programAddress} is not this build (${elf.length} bytes, sha256 ${sha256}): byte ${firstDifference} is ${deployed[firstDifference]}, expected ${elf[firstDifference] ?? 0}`;
}

/** Undefined: the program has none, or was closed. */
export function upgradeAuthorityIn(programData: AccountFact | undefined): string | undefined {
  return authorityIn(programData, 12);
}

/** What `initialize` of a program recorded in its account. Undefined: not initialized. */
export function recordIn(program: string, account: AccountFact | undefined): DepositoryRecord | undefined {
  if (!hasData(account)) return undefined;
  const isRecord =
    account.owner === program &&
    account.data.length === DEPOSITORY_BYTES &&
    toHex(account.data.subarray(0, 8)) === DEPOSITORY_ACCOUNT;
  return {
    owner: isRecord ? keyAt(account, 8) : account.owner,
    allocator: isRecord ? keyAt(account, 40) : "unknown",
    domain: toHex(isRecord ? account.data.subarray(74, 106) : new Uint8Array(32)),
  };
}

/** The authority and the content of a buffer. Undefined: another account. */
export function bufferIn(
  account: AccountFact,
): { readonly authority: string | undefined; readonly content: Uint8Array } | undefined {
  if (account.owner !== UPGRADEABLE_LOADER || tagOf(account) !== TAG.buffer) return undefined;
  return { authority: authorityIn(account, 4), content: account.data.subarray(LOADER_BYTES.bufferHeader) };
}

function tagOf({ data }: AccountFact): number {
  return data.length < 4 ? 0 : new DataView(data.buffer, data.byteOffset).getUint32(0, true);
}

/** An optional key: one byte, 1 if there is one, then its 32 bytes. */
function authorityIn(account: AccountFact | undefined, offset: number): string | undefined {
  return account?.data[offset] === 1 && account.data.length >= offset + 33
    ? keyAt(account, offset + 1)
    : undefined;
}

function keyAt({ data }: AccountFact, offset: number): string {
  return data.length < offset + 32 ? "" : getAddressDecoder().decode(data.subarray(offset, offset + 32));
}
