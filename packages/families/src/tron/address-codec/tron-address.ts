import type { Address, Hex } from "@causeway/domain";
import { decodeWith, encodeWith } from "../../address-codec.ts";
import { tronCodec } from "../address-codec.ts";

/** Tron's API uses base58 addresses, its virtual machine (TVM) 20 bytes. Judgments use the 20 bytes. Pure. */

/** The prefix of the 20 bytes. */
const PREFIX = "41";

/** The 20 bytes of an address in base58. @throws ServiceError INVALID_REQUEST for any other text */
export function tvmAddress(text: string): Address {
  return `0x${encodeWith(tronCodec, text).slice(4)}`;
}

/** The base58 form of 20 bytes. */
export function tronAddress(address: Address): string {
  return decodeWith(tronCodec, `0x${PREFIX}${address.slice(2)}`);
}

/** The 20 bytes after the prefix; undefined for other bytes. @param bytes `0x` and lower-case hex */
export function tvmAddressOf(bytes: Hex): Address | undefined {
  return bytes.length === 44 && bytes.startsWith(`0x${PREFIX}`) ? `0x${bytes.slice(4)}` : undefined;
}

/**
 * The hash of a transaction from its id on Tron; undefined for anything but 64 lowercase hex digits without
 * `0x`.
 */
export function hashOfId(id: string): Hex | undefined {
  return /^[0-9a-f]{64}$/.test(id) ? `0x${id}` : undefined;
}
