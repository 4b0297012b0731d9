import { bech32, bech32m, createBase58check } from "@scure/base";
import { sha256 } from "../hashing/sha256.ts";
import { bytesOf, toHex } from "../hashing/struct-writer.ts";
import type { Hex } from "../ids/hex.ts";
import type { AddressFamily } from "./address-family.ts";

const base58check = createBase58check(sha256);

/** Version bytes of legacy addresses: to a key's hash and to a script's hash. */
const LEGACY_VERSIONS: readonly (number | undefined)[] = [0x00, 0x05];
/** Stands before the 21 bytes of a legacy address: no witness version is that large, so the two kinds never meet. */
const LEGACY_MARK = 0xff;
const PREFIX = "bc";

/** A mark, not an address: version 0 with 19 zero bytes, which no rule of the network allows, so that nobody can be paid there. */
const NATIVE = "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8";
const NATIVE_BYTES: Hex = `0x${"00".repeat(20)}`;

/** Addresses of the main network: witness programs in lower-case bech32 or bech32m, legacy ones in base58 with checksum. */
export const bitcoinAddresses: AddressFamily = {
  nativeCurrency: NATIVE,
  encode(text) {
    if (text === NATIVE) return NATIVE_BYTES;
    // All upper case is bech32 too, for QR codes, but a second spelling here; mixed case is none.
    const bytes = text.startsWith(`${PREFIX}1`) ? witnessBytes(text) : legacyBytes(text);
    return bytes === undefined ? undefined : toHex(bytes);
  },
  decode(hex) {
    if (!/^0x(?:[0-9a-fA-F]{2}){3,42}$/.test(hex)) return undefined;
    if (hex === NATIVE_BYTES) return NATIVE;
    const bytes = bytesOf(hex);
    const text = bytes[0] === LEGACY_MARK ? base58check.encode(bytes.subarray(1)) : witnessText(bytes);
    // One way back for every text, or none: nothing but what `encode` can give is an address.
    return text !== undefined && bitcoinAddresses.encode(text) === hex.toLowerCase() ? text : undefined;
  },
  transactionIdBytes: (id) => (/^[0-9a-f]{64}$/.test(id) ? `0x${id}` : undefined),
};

/** Witness version and program (BIP 173, BIP 350). */
function witnessBytes(text: string): Uint8Array | undefined {
  const plain = bech32.decodeUnsafe(text);
  const decoded = plain ?? bech32m.decodeUnsafe(text);
  const [version, ...words] = decoded?.words ?? [];
  if (decoded?.prefix !== PREFIX || version === undefined || version > 16) return undefined;
  // Version 0 has the old checksum, every later one the new: without this an address has two spellings.
  if ((version === 0) !== (plain !== undefined)) return undefined;
  const program = bech32.fromWordsUnsafe(words);
  if (!program || program.length < 2 || program.length > 40) return undefined;
  if (version === 0 && program.length !== 20 && program.length !== 32) return undefined;
  return Uint8Array.of(version, ...program);
}

function witnessText(bytes: Uint8Array): string | undefined {
  const [version] = bytes;
  if (version === undefined || version > 16) return undefined;
  const words = [version, ...bech32.toWords(bytes.subarray(1))];
  return (version === 0 ? bech32 : bech32m).encode(PREFIX, words);
}

function legacyBytes(text: string): Uint8Array | undefined {
  if (text.length > 35) return undefined;
  const payload = decoded(text);
  if (payload?.length !== 21 || !LEGACY_VERSIONS.includes(payload[0])) return undefined;
  return Uint8Array.of(LEGACY_MARK, ...payload);
}

/** The library throws for a bad character or checksum, which here is an answer. */
function decoded(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}
