import {
  address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  isOffCurveAddress,
  type Address,
} from "@solana/kit";
import { bytesOf, sha256, toHex, type Hex, type Hex32 } from "@causeway/domain";
import { associatedTokenAddress, type DepositoryAccounts } from "./depository-accounts.ts";
import type { AccountFact } from "../answers/transaction-facts.ts";
import { readonlyAccount, writableAccount, type PlainInstruction } from "../payments/plain-instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../answers/programs.ts";

/**
 * Addresses of the deposit address program, and the instructions that sweep them. All keys in base58. Pure.
 */

/** First 8 bytes of the data of the program's instructions. */
const SWEEP_NATIVE: Hex = "0xb35b057efb9aee70";
const SWEEP_TOKEN: Hex = "0xc5b1d2372ab76753";

/** The data that an address commits to: it can only pay into this depository. */
export interface DepositAddressSeeds {
  /** The depository program. */
  readonly depository: string;
  /** The account whose signature sweeps the address. */
  readonly operator: string;
  /** The depositor of the swept funds. */
  readonly depositor: string;
  /** The order that the address was issued for. */
  readonly id: Hex32;
  /** Whether only deposits for `id` are possible. */
  readonly strict: boolean;
}

const utf8 = new TextEncoder();
const PREFIX = utf8.encode("deposit_address");
/** The runtime hashes this text into every program derived address. */
const MARKER = utf8.encode("ProgramDerivedAddress");

/**
 * The deposit address of an order: a program derived address. Synchronous, unlike the library's function, so
 * that terms can be computed within one decision.
 * @param program the deposit address program, base58
 */
export function deriveDepositAddress(program: string, seeds: DepositAddressSeeds): Address {
  const { depository, operator, depositor, id, strict } = seeds;
  const programBytes = keyBytes(program);
  const keys = [depository, operator, depositor].map(keyBytes);
  const fixed = [PREFIX, ...keys, bytesOf(id), Uint8Array.of(strict ? 1 : 0)];
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(Buffer.concat([...fixed, Uint8Array.of(bump), programBytes, MARKER]));
    const candidate = getAddressDecoder().decode(hash);
    if (isOffCurveAddress(candidate)) return candidate;
  }
  throw new RangeError("invariant violated: no bump gives an address off the curve");
}

/** One sweep. Its deposits count as made by `depositor`. */
export interface SweepTerms {
  /** The deposit address program. */
  readonly program: string;
  readonly pdas: DepositoryAccounts;
  readonly from: Omit<DepositAddressSeeds, "depository">;
  /** Order id of the deposits; must be the address's own if it is strict. */
  readonly orderId: Hex32;
  /** Base units of the first deposit. */
  readonly amount: bigint;
  /** Base units of a second deposit; 0: none. */
  readonly excess: bigint;
}

/**
 * Deposits lamports of an address. If the remainder would be below the rent-exempt minimum, the program adds
 * it to the excess.
 * @throws RangeError if an amount is not a uint64
 */
export function sweepNativeInstruction(terms: SweepTerms): PlainInstruction {
  const { program, pdas, from } = terms;
  return {
    programId: program,
    keys: [
      ...callerKeys(terms),
      writableAccount(deriveDepositAddress(program, { ...from, depository: pdas.program })),
      writableAccount(pdas.vault),
      readonlyAccount(SYSTEM_PROGRAM),
    ],
    data: sweepData(SWEEP_NATIVE, terms),
  };
}

/**
 * Deposits tokens of an address's associated token account. The vault's account for the mint must exist.
 * @throws RangeError if an amount is not a uint64
 */
export async function sweepTokenInstruction(
  terms: SweepTerms & { readonly mint: string; readonly tokenProgram: string },
): Promise<PlainInstruction> {
  const { program, pdas, from, mint, tokenProgram } = terms;
  const wallet = deriveDepositAddress(program, { ...from, depository: pdas.program });
  const [tokens, vaultTokens] = await Promise.all([
    associatedTokenAddress(wallet, mint, tokenProgram),
    associatedTokenAddress(pdas.vault, mint, tokenProgram),
  ]);
  return {
    programId: program,
    keys: [
      ...callerKeys(terms),
      writableAccount(wallet),
      readonlyAccount(pdas.vault),
      readonlyAccount(mint),
      writableAccount(tokens),
      writableAccount(vaultTokens),
      readonlyAccount(tokenProgram),
      readonlyAccount(ASSOCIATED_TOKEN_PROGRAM),
      readonlyAccount(SYSTEM_PROGRAM),
    ],
    data: sweepData(SWEEP_TOKEN, terms),
  };
}

function callerKeys({ pdas, from }: SweepTerms): PlainInstruction["keys"] {
  return [
    readonlyAccount(pdas.program),
    readonlyAccount(pdas.depository),
    { pubkey: from.operator, isSigner: true, isWritable: false },
    readonlyAccount(from.depositor),
  ];
}

function sweepData(name: Hex, { from, orderId, amount, excess }: SweepTerms): Hex {
  const data = new Uint8Array(121);
  data.set(bytesOf(name), 0);
  data.set(keyBytes(from.operator), 8);
  data.set(bytesOf(from.id), 40);
  data.set([from.strict ? 1 : 0], 72);
  data.set(bytesOf(orderId), 73);
  const view = new DataView(data.buffer);
  for (const [offset, value] of [
    [105, amount],
    [113, excess],
  ] as const) {
    if (BigInt.asUintN(64, value) !== value)
      throw new RangeError("invariant violated: amount is not a uint64");
    view.setBigUint64(offset, value, true);
  }
  return toHex(data);
}

function keyBytes(key: string): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(address(key)));
}

/** The upgradeable loader, and the account in which it keeps a program. */
const LOADER = address("BPFLoaderUpgradeab1e11111111111111111111111");
/** Bytes before the program: a tag, the slot, and the upgrade authority. */
const PROGRAM_DATA_HEADER = 45;
/** Size and hash of the committed program, `packages/contracts/solana/deposit-address.so`. */
const PROGRAM = {
  bytes: 10_104,
  sha256: "0x978c74acc5da6758a3128a09cc2e5d4e404aed9445b219e3e206b0ebf770860e",
};

/** The account in which the loader stores a program's bytes. */
export async function programDataAddress(program: string): Promise<Address> {
  const [candidate] = await getProgramDerivedAddress({ programAddress: LOADER, seeds: [keyBytes(program)] });
  return candidate;
}

/**
 * Whether a loader account contains the deposit address program. With any other program, funds at addresses
 * may be lost, and the operator's signature may pay for anything.
 */
export function isDepositAddressProgram(programData: AccountFact | undefined): boolean {
  if (programData === undefined || programData.owner !== LOADER) return false;
  const end = PROGRAM_DATA_HEADER + PROGRAM.bytes;
  // An account that was created for a longer program ends with zeros.
  return (
    toHex(sha256(programData.data.subarray(PROGRAM_DATA_HEADER, end))) === PROGRAM.sha256 &&
    programData.data.subarray(end).every((byte) => byte === 0)
  );
}
