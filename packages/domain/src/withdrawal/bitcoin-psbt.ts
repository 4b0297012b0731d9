import { sha256Text } from "../hashing/sha256.ts";
import { toHex } from "../hashing/struct-writer.ts";
import type { Hex, Hex32 } from "../ids/hex.ts";

/** A partially signed transaction begins so (BIP 174). */
const PSBT = /^70736274ff(?:[0-9a-f]{2})+$/;

/**
 * The payload that stands for a partially signed transaction, given as bare hex.
 *
 * @throws RangeError when it does not begin as one.
 */
export function encodeBitcoinPsbt(psbt: string): Hex {
  const hex = psbt.toLowerCase();
  if (!PSBT.test(hex)) throw new RangeError("expected a partially signed transaction (PSBT) in hex");
  return `0x${hex}`;
}

/**
 * The bare lower-case hex of a payload's partially signed transaction; undefined when it does not begin as
 * one. Its inside is not read.
 */
export function decodeBitcoinPsbt(payload: Hex): string | undefined {
  const hex = payload.slice(2).toLowerCase();
  return payload.startsWith("0x") && PSBT.test(hex) ? hex : undefined;
}

/**
 * Id of a withdrawal on Bitcoin: sha256 of the payload's text, `0x` and lower-case hex.
 *
 * @throws RangeError as `encodeBitcoinPsbt`.
 */
export function bitcoinPsbtId(psbt: string): Hex32 {
  return toHex(sha256Text(encodeBitcoinPsbt(psbt)));
}
