import {
  address,
  createAddressWithSeed,
  getAddressEncoder,
  isAddress,
  isOffCurveAddress,
  signBytes,
} from "@solana/kit";
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
import type { Payer } from "../sign-payment.ts";
import type { SeededAccount } from "./loader-instructions.ts";

/** First 8 bytes of the data of the depository's `initialize` (idl.json). */
const INITIALIZE = [175, 175, 109, 31, 13, 152, 155, 237];
/** Program bytes in one transaction, which has at most 1,232 bytes. */
const CHUNK_BYTES = 900;

/** What `initialize` of a depository records. Accounts are in base58, like all accounts here. */
export interface DepositoryInputs {
  /** `id` of the chain entry, which is part of what the allocator signs. */
  readonly chainName: string;
  /** Undefined: no one. */
  readonly owner: string | undefined;
  readonly allocator: string;
}

/** Recorded as owner if there is none: no one has a key of it. */
export const NO_OWNER: string = SYSTEM_PROGRAM;

/** A program that exists, or a new one: its address follows from the deployer's key and the other inputs. */
export type ProgramLocation =
  | { readonly kind: "existing"; readonly program: string }
  | { readonly kind: "new"; readonly key: Payer };

export interface ProgramInputs {
  /** The program to deploy, an ELF file. */
  readonly elf: Uint8Array;
  /** Pays and signs. */
  readonly deployer: string;
  /** Final upgrade authority; undefined: none. */
  readonly owner: string | undefined;
  readonly location: ProgramLocation;
  /** Undefined: the program has no state to initialize. */
  readonly depository: DepositoryInputs | undefined;
}

/** A program and where the loader keeps it. */
export interface ProgramBuild {
  readonly elf: Uint8Array;
  readonly sha256: Hex;
  readonly program: string;
  readonly programData: string;
}

/** The accounts of a depository, and what they must record. */
export interface DepositoryPlan extends DepositoryInputs {
  readonly accounts: DepositoryAccounts;
  /** sha256 of `Depository`, `1`, the chain's name and the program's address. */
  readonly domain: Hex;
}

/** What a deployment of a program creates. */
export interface ProgramPlan extends ProgramBuild, Pick<ProgramInputs, "deployer" | "owner"> {
  /** Undefined: the program was created by other means. */
  readonly programAccount: SeededAccount | undefined;
  readonly buffer: SeededAccount;
  readonly chunks: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  readonly depository: DepositoryPlan | undefined;
}

/**
 * The addresses of a deployment. They follow from the inputs, so that a run that was killed is continued
 * without a record of it. Only the deployer can create accounts at them, and only the deployer can compute
 * the program's address. RPC endpoints learn it when it is queried.
 */
export async function planProgram(inputs: ProgramInputs): Promise<ProgramPlan> {
  const { elf, deployer, owner, location, depository } = inputs;
  const hash = toHex(sha256(elf));
  const { program, programAccount } =
    location.kind === "new"
      ? await newProgram(inputs, location.key, hash)
      : { program: location.program, programAccount: undefined };
  const build = await buildAt(program, elf);
  return {
    ...build,
    deployer,
    owner,
    programAccount,
    // Independent of the other inputs: the rent of a buffer is not lost if they change.
    buffer: await deriveSeededAccount(deployer, sha256Text(`buffer ${hash}`)),
    chunks: chunksOf(elf),
    depository: depository && (await planDepository(build.program, depository)),
  };
}

/**
 * The account of a new program. Its seed is a signature, which is deterministic: the next run finds the same
 * address. Lamports at its program data account would block the deployment, so no one else may compute it.
 */
async function newProgram(
  { deployer, owner, depository }: ProgramInputs,
  key: Payer,
  hash: Hex,
): Promise<{ readonly program: string; readonly programAccount: SeededAccount }> {
  const { chainName = "none", allocator = "none" } = depository ?? {};
  const text = ["Causeway program", hash, chainName, owner ?? "none", allocator].join("\n");
  // No transaction begins with 0xff, so that this signature can never pay for anything.
  const message = Buffer.concat([Uint8Array.of(0xff), Buffer.from(text, "utf8")]);
  const signature = await signBytes(key.pair.privateKey, message);
  const programAccount = await deriveSeededAccount(deployer, sha256(signature));
  return { program: programAccount.address, programAccount };
}

/** A program at an address that is known already. */
export async function buildAt(program: string, elf: Uint8Array): Promise<ProgramBuild> {
  return { elf, sha256: toHex(sha256(elf)), program, programData: await programDataAddress(program) };
}

/** The accounts of a depository and the domain of what its allocator signs. */
export async function planDepository(program: string, inputs: DepositoryInputs): Promise<DepositoryPlan> {
  const bytes = getAddressEncoder().encode(address(program));
  const domain = Buffer.concat([
    Buffer.from(`Depository1${inputs.chainName}`, "utf8"),
    Uint8Array.from(bytes),
  ]);
  return { ...inputs, accounts: await depositoryAccounts(program), domain: toHex(sha256(domain)) };
}

/** A new buffer is zero, so that chunks of zeros need not be written. */
function chunksOf(elf: Uint8Array): ProgramPlan["chunks"] {
  const chunks = Array.from({ length: Math.ceil(elf.length / CHUNK_BYTES) }, (_, index) => ({
    offset: index * CHUNK_BYTES,
    bytes: elf.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  }));
  return chunks.filter(({ bytes }) => bytes.some((byte) => byte !== 0));
}

async function deriveSeededAccount(base: string, hash: Uint8Array): Promise<SeededAccount> {
  // A seed has at most 32 bytes. Collisions do not matter: only the base account can use its seeds.
  const seed = toHex(hash).slice(2, 34);
  const derived = await createAddressWithSeed({
    baseAddress: address(base),
    seed,
    programAddress: UPGRADEABLE_LOADER,
  });
  return { address: derived, base, seed };
}

/** Creates the depository of a deployed program. The deployer must be its upgrade authority. */
export function initializeInstruction(
  { deployer, program, programData }: Pick<ProgramPlan, "deployer" | "program" | "programData">,
  { accounts, owner, allocator, chainName }: DepositoryPlan,
): PlainInstruction {
  const name = Buffer.from(chainName, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(name.length);
  return {
    programId: program,
    keys: [
      writableAccount(accounts.depository),
      writableAccount(accounts.vault),
      payingAccount(deployer),
      readonlyAccount(allocator),
      readonlyAccount(programData),
      readonlyAccount(SYSTEM_PROGRAM),
      readonlyAccount(owner ?? NO_OWNER),
    ],
    data: toHex(Buffer.concat([Uint8Array.from(INITIALIZE), length, name])),
  };
}

/** Whether a text is the base58 of 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  return isAddress(text);
}

/** Whether an account can have a private key. Those of programs and multisignature vaults cannot. */
export function canHaveKey(account: string): boolean {
  return !isOffCurveAddress(address(account));
}
