import { bech32, bech32m, createBase58check } from "@scure/base";
import { bytesOf, sha256, toHex, type BitcoinNetwork, type Hex } from "@causeway/domain";
import type { AddressCodec } from "../address-codec.ts";

const base58check = createBase58check(sha256);

/** The address format of a network. */
interface AddressFormat {
  /** Prefix of witness programs. */
  readonly prefix: string;
  /** Version bytes of legacy addresses: of a key's hash and of a script's hash. */
  readonly legacy: readonly [keyHash: number, scriptHash: number];
}

const TEST: AddressFormat = { prefix: "tb", legacy: [0x6f, 0xc4] };
const ADDRESS_FORMATS: Readonly<Record<BitcoinNetwork, AddressFormat>> = {
  mainnet: { prefix: "bc", legacy: [0x00, 0x05] },
  testnet: TEST,
  testnet4: TEST,
  signet: TEST,
  regtest: { ...TEST, prefix: "bcrt" },
};

/**
 * Precedes the 21 bytes of a legacy address. No witness version is that large, so the two kinds never
 * collide.
 */
const LEGACY_MARK = 0xff;

/**
 * A marker, not an address: version 0 with 19 zero bytes is invalid on every network, so no one can be paid
 * there.
 */
const NATIVE = "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8";
export const NATIVE_BYTES: Hex = `0x${"00".repeat(20)}`;

/**
 * Mainnet addresses: witness programs in lower-case bech32 or bech32m, legacy ones in base58 with checksum.
 */
export const bitcoinCodec: AddressCodec = {
  vmType: "bitcoin-vm",
  nativeCurrency: NATIVE,
  encode: (text) => (text === NATIVE ? NATIVE_BYTES : encodeBitcoinAddress("mainnet", text)),
  decode: (hex) => (hex === NATIVE_BYTES ? NATIVE : decodeBitcoinAddress("mainnet", hex)),
  transactionIdBytes: (id) => (/^[0-9a-f]{64}$/.test(id) ? `0x${id}` : undefined),
  transactionIdFormat: "32 bytes of lowercase hex without 0x",
};

/**
 * The bytes of an address in a network's format; undefined for any other text. They identify the script that
 * is paid, not the network: orders and oracles write the script in mainnet format.
 */
export function encodeBitcoinAddress(network: BitcoinNetwork, text: string): Hex | undefined {
  const format = ADDRESS_FORMATS[network];
  // All upper case is valid bech32, used in QR codes, but not canonical; mixed case is invalid.
  const bytes = text.startsWith(`${format.prefix}1`)
    ? witnessBytes(text, format.prefix)
    : legacyBytes(text, format);
  return bytes === undefined ? undefined : toHex(bytes);
}

/** The address of these bytes in a network's format; undefined if they are not an address. */
export function decodeBitcoinAddress(network: BitcoinNetwork, hex: Hex): string | undefined {
  if (!/^0x(?:[0-9a-fA-F]{2}){3,42}$/.test(hex)) return undefined;
  const format = ADDRESS_FORMATS[network];
  const bytes = bytesOf(hex);
  const text = bytes[0] === LEGACY_MARK ? legacyText(bytes, format) : witnessText(bytes, format.prefix);
  // Accept only text that encodes to the same bytes.
  return text !== undefined && encodeBitcoinAddress(network, text) === hex.toLowerCase() ? text : undefined;
}

/** Witness version and program (BIP 173, BIP 350). */
function witnessBytes(text: string, prefix: string): Uint8Array | undefined {
  const plain = bech32.decodeUnsafe(text);
  const decoded = plain ?? bech32m.decodeUnsafe(text);
  const [version, ...words] = decoded?.words ?? [];
  if (decoded?.prefix !== prefix || version === undefined || version > 16) return undefined;
  // Version 0 requires the bech32 checksum, later versions bech32m: otherwise an address had two formats.
  if ((version === 0) !== (plain !== undefined)) return undefined;
  const program = bech32.fromWordsUnsafe(words);
  if (!program || program.length < 2 || program.length > 40) return undefined;
  if (version === 0 && program.length !== 20 && program.length !== 32) return undefined;
  return Uint8Array.of(version, ...program);
}

function witnessText(bytes: Uint8Array, prefix: string): string | undefined {
  const [version] = bytes;
  if (version === undefined || version > 16) return undefined;
  const words = [version, ...bech32.toWords(bytes.subarray(1))];
  return (version === 0 ? bech32 : bech32m).encode(prefix, words);
}

function legacyBytes(text: string, { legacy }: AddressFormat): Uint8Array | undefined {
  if (text.length > 35) return undefined;
  const payload = decodeBase58(text);
  if (payload?.length !== 21) return undefined;
  const kind = legacy.indexOf(payload[0] ?? -1);
  // Canonical bytes use the mainnet version byte on every network.
  const version = ADDRESS_FORMATS.mainnet.legacy[kind];
  return version === undefined ? undefined : Uint8Array.of(LEGACY_MARK, version, ...payload.subarray(1));
}

function legacyText(bytes: Uint8Array, { legacy }: AddressFormat): string | undefined {
  const version = legacy[ADDRESS_FORMATS.mainnet.legacy.indexOf(bytes[1] ?? -1)];
  return version === undefined ? undefined : base58check.encode(Uint8Array.of(version, ...bytes.subarray(2)));
}

/** The library throws for a bad character or checksum, which is an expected result here. */
function decodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}
