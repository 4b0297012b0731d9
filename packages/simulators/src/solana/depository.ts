import {
  address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Address,
} from "@solana/kit";
import { depositoryProgram } from "./programs.ts";
import type { RunningSolana } from "./start-solana.ts";
import { askNode, sendInstructions, type PlainInstruction, type SolanaKey } from "./wallet.ts";

const SYSTEM = "11111111111111111111111111111111";
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const UPGRADEABLE_LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";
const INSTRUCTIONS_SYSVAR = "Sysvar1nstructions1111111111111111111111111";
const ED25519 = "Ed25519SigVerify111111111111111111111111111";

/** The address of the depository on mainnet, and of the program in clusters for tests. */
export const LOCAL_DEPOSITORY: Address = address("99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2");

/** The program of deposit addresses in clusters for tests. */
export const LOCAL_DEPOSIT_ADDRESSES: Address = address("GDfYJ4jExeCRwcjKeSnJjZHXVePV1nfupyU5bAGnXQLX");

export interface LocalDepository {
  readonly program: Address;
  readonly depository: Address;
  readonly vault: Address;
  readonly owner: SolanaKey;
  /** Its signature authorizes payouts. */
  readonly allocator: SolanaKey;
  /** sha256 of `Depository`, `1`, the chain's name and the program's address: 32 bytes in hex. */
  readonly domain: `0x${string}`;
}

/**
 * Deploys the depository program on a local cluster with `owner` as its upgrade authority, funds the owner
 * and initializes the depository for `allocator`.
 * @param chainName part of the domain of what the allocator signs
 */
export async function createDepository(
  node: Pick<RunningSolana, "url" | "controls">,
  {
    owner,
    allocator,
    chainName = "solana",
    program = LOCAL_DEPOSITORY,
  }: {
    readonly owner: SolanaKey;
    readonly allocator: SolanaKey;
    readonly chainName?: string;
    readonly program?: Address;
  },
): Promise<LocalDepository> {
  node.controls.addProgram(program, depositoryProgram(), owner.address);
  await askNode(node.url, "requestAirdrop", [owner.address, 1_000_000_000]);
  const [depository] = await getProgramDerivedAddress({ programAddress: program, seeds: ["depository"] });
  const [vault] = await getProgramDerivedAddress({ programAddress: program, seeds: ["vault"] });
  await sendInstructions(
    node.url,
    [owner],
    [
      initializeInstruction({
        program,
        depository,
        vault,
        owner: owner.address,
        allocator: allocator.address,
        programData: await programDataAddress(program),
        chainName,
      }),
    ],
  );
  const stored = node.controls.account(depository);
  if (stored === undefined) throw new Error("depository was not initialized");
  return {
    program,
    depository,
    vault,
    owner,
    allocator,
    domain: `0x${Buffer.from(stored.data.subarray(74, 106)).toString("hex")}`,
  };
}

/** The account in which the upgradeable loader keeps a program and its upgrade authority. */
export async function programDataAddress(program: string): Promise<Address> {
  const [programData] = await getProgramDerivedAddress({
    programAddress: address(UPGRADEABLE_LOADER),
    seeds: [getAddressEncoder().encode(address(program))],
  });
  return programData;
}

export function initializeInstruction(setup: {
  readonly program: string;
  readonly depository: string;
  readonly vault: string;
  readonly owner: string;
  /** The upgrade authority, which signs. Default: the owner. */
  readonly authority?: string;
  readonly allocator: string;
  readonly programData: string;
  readonly chainName: string;
}): PlainInstruction {
  const name = Buffer.from(setup.chainName, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(name.length);
  return {
    programId: setup.program,
    keys: [
      { pubkey: setup.depository, isSigner: false, isWritable: true },
      { pubkey: setup.vault, isSigner: false, isWritable: true },
      { pubkey: setup.authority ?? setup.owner, isSigner: true, isWritable: true },
      { pubkey: setup.allocator, isSigner: false, isWritable: false },
      { pubkey: setup.programData, isSigner: false, isWritable: false },
      { pubkey: SYSTEM, isSigner: false, isWritable: false },
      { pubkey: setup.owner, isSigner: false, isWritable: false },
    ],
    data: Buffer.concat([Buffer.from([175, 175, 109, 31, 13, 152, 155, 237]), length, name]),
  };
}

/**
 * The Ed25519 program's check of one signature over 32 bytes, with all its data in the instruction itself.
 */
export function signatureCheckInstruction(
  key: string,
  signature: Uint8Array,
  message: Uint8Array,
): PlainInstruction {
  const data = Buffer.alloc(112 + message.length);
  data.set([1, 0]);
  [48, 0xffff, 16, 0xffff, 112, message.length, 0xffff].forEach((value, index) =>
    data.writeUInt16LE(value, 2 + 2 * index),
  );
  data.set(getAddressEncoder().encode(address(key)), 16);
  data.set(signature, 48);
  data.set(message, 112);
  return { programId: ED25519, keys: [], data };
}

/**
 * The instruction that pays a request. It must directly follow the check of the allocator's signature.
 * @param payload borsh encoding of the request, in hex
 * @param requestId sha256 of the payload
 * @param tokenProgram of the mint; ignored for lamports
 */
export async function executeInstruction(
  depository: Pick<LocalDepository, "program" | "depository" | "vault">,
  executor: string,
  payload: string,
  requestId: Uint8Array,
  tokenProgram: string = TOKEN,
): Promise<PlainInstruction> {
  const request = Buffer.from(payload.replace(/^0x/, ""), "hex");
  const key = (offset: number): Address => getAddressDecoder().decode(request.subarray(offset, offset + 32));
  const recipient = key(32);
  const mint = request[64] === 1 ? key(65) : undefined;
  const [usedRequest] = await getProgramDerivedAddress({
    programAddress: depository.program,
    seeds: ["used_request", requestId],
  });
  const tokens = async (wallet: Address): Promise<Address | undefined> =>
    mint === undefined ? undefined : await associatedTokenAccount(wallet, mint, tokenProgram);
  const optional = (pubkey: string | undefined, isWritable: boolean): PlainInstruction["keys"][number] =>
    // The program's own address marks an omitted account.
    ({
      pubkey: pubkey ?? depository.program,
      isSigner: false,
      isWritable: pubkey !== undefined && isWritable,
    });
  return {
    programId: depository.program,
    keys: [
      { pubkey: depository.depository, isSigner: false, isWritable: false },
      { pubkey: executor, isSigner: true, isWritable: true },
      { pubkey: recipient, isSigner: false, isWritable: true },
      { pubkey: depository.vault, isSigner: false, isWritable: true },
      optional(mint, false),
      optional(await tokens(recipient), true),
      optional(await tokens(depository.vault), true),
      { pubkey: usedRequest, isSigner: false, isWritable: true },
      { pubkey: INSTRUCTIONS_SYSVAR, isSigner: false, isWritable: false },
      { pubkey: tokenProgram, isSigner: false, isWritable: false },
      { pubkey: ASSOCIATED_TOKEN, isSigner: false, isWritable: false },
      { pubkey: SYSTEM, isSigner: false, isWritable: false },
    ],
    data: Buffer.concat([Buffer.from([233, 126, 160, 184, 235, 206, 31, 119]), request]),
  };
}

/** A wallet's associated token account of a mint. */
export async function associatedTokenAccount(
  wallet: string,
  mint: string,
  tokenProgram: string = TOKEN,
): Promise<Address> {
  const encode = (text: string) => getAddressEncoder().encode(address(text));
  const [tokens] = await getProgramDerivedAddress({
    programAddress: address(ASSOCIATED_TOKEN),
    seeds: [encode(wallet), encode(tokenProgram), encode(mint)],
  });
  return tokens;
}
