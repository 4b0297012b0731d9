import { sha256Text } from "../hashing/sha256.ts";
import { toHex } from "../hashing/struct-writer.ts";
import type { Hex, Hex32 } from "../ids/hex.ts";

/** Prefix of a partially signed transaction (BIP 174). */
const PSBT = /^70736274ff(?:[0-9a-f]{2})+$/;

/**
 * The payload of a partially signed transaction, given as hex without `0x`.
 * @throws RangeError if it lacks the prefix of a PSBT
 */
export function encodeBitcoinPsbt(psbt: string): Hex {
  const hex = psbt.toLowerCase();
  if (!PSBT.test(hex)) throw new RangeError("expected a partially signed transaction (PSBT) in hex");
  return `0x${hex}`;
}

/**
 * The partially signed transaction of a payload, as lower-case hex without `0x`. Undefined if it lacks the
 * prefix of a PSBT. Its contents are not parsed.
 */
export function decodeBitcoinPsbt(payload: Hex): string | undefined {
  const hex = payload.slice(2).toLowerCase();
  return payload.startsWith("0x") && PSBT.test(hex) ? hex : undefined;
}

/**
 * Id of a withdrawal on Bitcoin: sha256 of the payload's text, `0x` and lower-case hex.
 * @throws RangeError as `encodeBitcoinPsbt`
 */
export function bitcoinPsbtId(psbt: string): Hex32 {
  return toHex(sha256Text(encodeBitcoinPsbt(psbt)));
}
