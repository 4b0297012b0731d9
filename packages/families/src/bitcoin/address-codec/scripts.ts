import { Script } from "@scure/btc-signer";
import type { Hex } from "@causeway/domain";
import { decodeWith, encodeWith } from "../../address-codec.ts";
import { bytesIn, hexOf } from "../answers/raw-transaction.ts";
import { bitcoinCodec } from "../address-codec.ts";

/** Prefix of the 21 bytes of a legacy address. */
const LEGACY_MARK = 0xff;
const KEY_HASH = 0x00;
const SCRIPT_HASH = 0x05;

/** The output script that an address pays, in hex. @param address canonical bytes of `encodeAddress` */
export function scriptOfAddress(address: Hex): string {
  const bytes = bytesIn(address.slice(2)) ?? new Uint8Array();
  const [version = 0] = bytes;
  if (version !== LEGACY_MARK) return hexOf(Script.encode([version, bytes.subarray(1)]));
  const hash = bytes.subarray(2);
  return hexOf(
    bytes[1] === SCRIPT_HASH
      ? Script.encode(["HASH160", hash, "EQUAL"])
      : Script.encode(["DUP", "HASH160", hash, "EQUALVERIFY", "CHECKSIG"]),
  );
}

/**
 * The canonical bytes of a script's address; undefined if the script has no address (a bare key, several
 * keys, text, anything nonstandard).
 */
export function addressBytesOfScript(script: string): Hex | undefined {
  const parts = decodedScript(script);
  if (parts === undefined) return undefined;
  const address = addressOfParts(parts);
  // Only the shortest encoding of a script belongs to an address: `OP_PUSHDATA1 20 …` is another script,
  // which no wallet could pay.
  return address !== undefined && scriptOfAddress(address) === script ? address : undefined;
}

/** The address of a script in the format of attestations, which is mainnet's on every network. */
export function addressOfScript(script: string): string | undefined {
  const bytes = addressBytesOfScript(script);
  return bytes === undefined ? undefined : decodeWith(bitcoinCodec, bytes);
}

/**
 * The output script of an address in the format of attestations.
 *
 * @throws ServiceError INVALID_REQUEST for anything else
 */
export function scriptOf(address: string): string {
  return scriptOfAddress(encodeWith(bitcoinCodec, address));
}

/**
 * Whether a script is a witness program: signatures that spend from it do not affect the id of the spending
 * transaction.
 */
export function isWitnessProgram(script: string): boolean {
  return /^(?:00|5[1-9a-f]|60)(?:0[2-9a-f]|1[0-9a-f]|2[0-8])/.test(script) && witnessLengthFits(script);
}

/** The parts of a script, for any push opcode; undefined if it cannot be decoded. */
export function decodedScript(script: string): readonly (string | number | Uint8Array)[] | undefined {
  const bytes = bytesIn(script);
  if (bytes === undefined) return undefined;
  try {
    return Script.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a script pays to the hash of one key (P2WPKH). */
export function isKeyProgram(script: string): boolean {
  return /^0014[0-9a-f]{40}$/.test(script);
}

function witnessLengthFits(script: string): boolean {
  return script.length === 4 + 2 * Number.parseInt(script.slice(2, 4), 16);
}

function addressOfParts(parts: readonly (string | number | Uint8Array)[]): Hex | undefined {
  const [first, second, third] = parts;
  if (parts.length === 2 && typeof first === "number" && second instanceof Uint8Array)
    return isProgram(first, second) ? `0x${hexOf(Uint8Array.of(first, ...second))}` : undefined;
  if (parts.length === 3 && first === "HASH160" && isHash(second) && third === "EQUAL")
    return legacy(SCRIPT_HASH, second);
  const [, , , fourth, fifth] = parts;
  if (parts.length === 5 && first === "DUP" && second === "HASH160" && isHash(third))
    return fourth === "EQUALVERIFY" && fifth === "CHECKSIG" ? legacy(KEY_HASH, third) : undefined;
  return undefined;
}

function isProgram(version: number, program: Uint8Array): boolean {
  if (version === 0) return program.length === 20 || program.length === 32;
  return program.length >= 2 && program.length <= 40;
}

function isHash(part: unknown): part is Uint8Array {
  return part instanceof Uint8Array && part.length === 20;
}

function legacy(version: number, hash: Uint8Array): Hex {
  return `0x${hexOf(Uint8Array.of(LEGACY_MARK, version, ...hash))}`;
}
