import { address, createAddressWithSeed, getAddressEncoder, isAddress, isOffCurveAddress } from "@solana/kit";
import { sha256, sha256Text, toHex, type Hex } from "@causeway/domain";
import {
  depositoryAccounts,
  payingAccount,
  programDataAddress,
  readonlyAccount,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  writableAccount,
  type DepositoryAccounts,
  type PlainInstruction,
} from "@causeway/families/solana";
import type { SeededAccount } from "./loader-instructions.ts";

/** Sizes of accounts that the loader keeps, in bytes: without the program, for a buffer and for its data. */
export const LOADER_BYTES = { program: 36, bufferHeader: 37, programDataHeader: 45 } as const;
/** Size of the account in which the depository keeps owner, allocator and domain, in bytes. */
export const DEPOSITORY_BYTES = 106;
/** First 8 bytes of the data of the depository's `initialize` (idl.json). */
const INITIALIZE = [175, 175, 109, 31, 13, 152, 155, 237];
/** Program bytes in one transaction, which has at most 1,232 bytes. */
const CHUNK_BYTES = 900;

export interface ProgramInputs {
  /** The program to deploy, an ELF file. */
  readonly elf: Uint8Array;
  /** `id` of the chain entry, which is part of what the allocator signs. */
  readonly chainName: string;
  /** Pays and signs, and becomes the owner that `initialize` records. In base58, like all accounts here. */
  readonly deployer: string;
  /** Final upgrade authority; undefined: none. */
  readonly owner: string | undefined;
  readonly allocator: string;
  /** A program that exists; undefined: the address that follows from the other inputs. */
  readonly program: string | undefined;
}

/** What a deployment of the depository program creates. */
export interface ProgramPlan extends ProgramInputs {
  readonly accounts: DepositoryAccounts;
  readonly programData: string;
  /** Undefined: the program was created by other means. */
  readonly programAccount: SeededAccount | undefined;
  readonly buffer: SeededAccount;
  readonly chunks: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  readonly sha256: Hex;
  /** sha256 of `Depository`, `1`, the chain's name and the program's address. */
  readonly domain: Hex;
}

/**
 * The addresses of a deployment. They follow from the inputs, so that a run that was killed is continued
 * without a record of it. Only the deployer can create accounts at them.
 */
export async function planProgram(inputs: ProgramInputs): Promise<ProgramPlan> {
  const { elf, chainName, deployer, owner, allocator } = inputs;
  const hash = toHex(sha256(elf));
  // Independent of the other inputs: the rent of a buffer is not lost if they change.
  const buffer = await seeded(deployer, `buffer ${hash}`);
  const created = await seeded(deployer, ["program", hash, chainName, owner ?? "none", allocator].join(" "));
  const programAccount = inputs.program === undefined ? created : undefined;
  const accounts = await depositoryAccounts(inputs.program ?? created.address);
  return {
    ...inputs,
    accounts,
    programData: await programDataAddress(accounts.program),
    programAccount,
    buffer,
    chunks: chunksOf(elf),
    sha256: hash,
    domain: toHex(
      sha256(
        Buffer.concat([
          Buffer.from(`Depository1${chainName}`, "utf8"),
          Uint8Array.from(getAddressEncoder().encode(accounts.program)),
        ]),
      ),
    ),
  };
}

/** A new buffer is zero, so that chunks of zeros need not be written. */
function chunksOf(elf: Uint8Array): ProgramPlan["chunks"] {
  const all = Array.from({ length: Math.ceil(elf.length / CHUNK_BYTES) }, (_, at) => ({
    offset: at * CHUNK_BYTES,
    bytes: elf.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  }));
  return all.filter(({ bytes }) => bytes.some((byte) => byte !== 0));
}

async function seeded(base: string, text: string): Promise<SeededAccount> {
  // A seed has at most 32 bytes. Collisions do not matter: only the base account can use its seeds.
  const seed = toHex(sha256Text(text)).slice(2, 34);
  const found = await createAddressWithSeed({
    baseAddress: address(base),
    seed,
    programAddress: UPGRADEABLE_LOADER,
  });
  return { address: found, base, seed };
}

/** Creates the depository of a deployed program. The deployer must be its upgrade authority. */
export function initializeInstruction(plan: ProgramPlan): PlainInstruction {
  const { accounts, deployer, allocator, programData, chainName } = plan;
  const name = Buffer.from(chainName, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(name.length);
  return {
    programId: accounts.program,
    keys: [
      writableAccount(accounts.depository),
      writableAccount(accounts.vault),
      payingAccount(deployer),
      readonlyAccount(allocator),
      readonlyAccount(programData),
      readonlyAccount(SYSTEM_PROGRAM),
    ],
    data: toHex(Buffer.concat([Uint8Array.from(INITIALIZE), length, name])),
  };
}

/** Whether a text is the base58 of 32 bytes. */
export function isProgramAddress(text: string): boolean {
  return isAddress(text);
}

/** Whether an account can have a private key. Those of programs and multisignature vaults cannot. */
export function canHaveKey(account: string): boolean {
  return !isOffCurveAddress(address(account));
}
