import { address, getAddressEncoder } from "@solana/kit";
import { toHex, type Hex } from "@causeway/domain";
import {
  payingAccount,
  readonlyAccount,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  writableAccount,
  type PlainInstruction,
} from "@causeway/families/solana";

/**
 * Instructions of the upgradeable loader (version 3), and of the system program for its accounts. Pure.
 * Encoded as in https://github.com/anza-xyz/solana-sdk, `src/instruction.rs` of `loader-v3-interface` and
 * `system-interface` (bincode: little-endian, u32 tags, u64 lengths).
 */

const RENT_SYSVAR = "SysvarRent111111111111111111111111111111111";
const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";

/** An account at an address that a base account and a text determine. */
export interface SeededAccount {
  readonly address: string;
  readonly base: string;
  readonly seed: string;
}

/** Gives an account its size, and the loader as its owner. Fails if the account has data or another owner. */
export function allocateInstruction(
  { address: allocated, base, seed }: SeededAccount,
  bytes: number,
): PlainInstruction {
  const text = new TextEncoder().encode(seed);
  return {
    programId: SYSTEM_PROGRAM,
    keys: [writableAccount(allocated), { pubkey: base, isSigner: true, isWritable: false }],
    data: concat(u32(9), keyBytes(base), u64(text.length), text, u64(bytes), keyBytes(UPGRADEABLE_LOADER)),
  };
}

/** Makes an allocated account a buffer that only `authority` can write. */
export function initializeBufferInstruction(buffer: string, authority: string): PlainInstruction {
  return loaderInstruction([writableAccount(buffer), readonlyAccount(authority)], u32(0));
}

export function writeInstruction(
  buffer: string,
  authority: string,
  offset: number,
  bytes: Uint8Array,
): PlainInstruction {
  const keys = [writableAccount(buffer), signer(authority)];
  return loaderInstruction(keys, u32(1), u32(offset), u64(bytes.length), bytes);
}

/**
 * Turns a buffer into a program that can be called from the next slot on. The buffer's lamports go to
 * `payer`, who pays for the program data account. `authority` becomes the upgrade authority.
 * @param maxBytes size limit of the program and its upgrades
 */
export function deployInstruction(terms: {
  readonly payer: string;
  readonly authority: string;
  readonly program: string;
  readonly programData: string;
  readonly buffer: string;
  readonly maxBytes: number;
}): PlainInstruction {
  const keys = [
    payingAccount(terms.payer),
    writableAccount(terms.programData),
    writableAccount(terms.program),
    writableAccount(terms.buffer),
    readonlyAccount(RENT_SYSVAR),
    readonlyAccount(CLOCK_SYSVAR),
    readonlyAccount(SYSTEM_PROGRAM),
    signer(terms.authority),
  ];
  return loaderInstruction(keys, u32(2), u64(terms.maxBytes));
}

/** @param next the new upgrade authority; undefined: none, so that the program can never change */
export function setAuthorityInstruction(
  programData: string,
  current: string,
  next: string | undefined,
): PlainInstruction {
  const keys = [
    writableAccount(programData),
    signer(current),
    ...(next === undefined ? [] : [readonlyAccount(next)]),
  ];
  return loaderInstruction(keys, u32(4));
}

/** Closes a buffer; its lamports go to its authority. */
export function closeBufferInstruction(buffer: string, authority: string): PlainInstruction {
  return loaderInstruction([writableAccount(buffer), writableAccount(authority), signer(authority)], u32(5));
}

function loaderInstruction(
  keys: PlainInstruction["keys"],
  ...parts: readonly Uint8Array[]
): PlainInstruction {
  return { programId: UPGRADEABLE_LOADER, keys, data: concat(...parts) };
}

function signer(pubkey: string): PlainInstruction["keys"][number] {
  return { pubkey, isSigner: true, isWritable: false };
}

function keyBytes(key: string): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(address(key)));
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

function concat(...parts: readonly Uint8Array[]): Hex {
  return toHex(Buffer.concat(parts));
}
