import type { Hex, VmType } from "@causeway/domain";
import { decodeWith, encodeWith, transactionIdWith } from "./address-codec.ts";
import { familyOfVm } from "./families.ts";

/**
 * The bytes of an address or currency, as orders, messages and the hub hash them: EVM 20 bytes, Solana 32,
 * Bitcoin witness version ‖ program or 0xff ‖ 21 bytes, Tron 21, …
 * @param field name of the request's field, for the error
 * @throws ServiceError INVALID_REQUEST if `text` is not in the family's canonical format (hex addresses: any
 * case)
 */
export function encodeAddress(vm: VmType, text: string, field?: string): Hex {
  return encodeWith(familyOfVm(vm).codec, text, field);
}

/**
 * The canonical text of encoded bytes: lower-case hex on EVM chains, base58 on Solana and Tron, bech32 or
 * base58 on Bitcoin, digits on Lighter.
 * @throws ServiceError INVALID_REQUEST if the bytes are not an address of the family
 */
export function decodeAddress(vm: VmType, bytes: Hex, field?: string): string {
  return decodeWith(familyOfVm(vm).codec, bytes, field);
}

/**
 * The canonical format in which an address is compared and stored.
 * @throws ServiceError INVALID_REQUEST as `encodeAddress`
 */
export function canonicalAddress(vm: VmType, text: string, field?: string): string {
  return decodeAddress(vm, encodeAddress(vm, text, field), field);
}

/** An address or a transaction id, lower-cased if the family ignores letter case. */
export function canonicalCase(vm: VmType, text: string): string {
  return familyOfVm(vm).codec.isHex === true ? text.toLowerCase() : text;
}

/** The native currency in a family's format, e.g. the zero address on EVM chains. */
export function nativeCurrency(vm: VmType): string {
  return familyOfVm(vm).codec.nativeCurrency;
}

/** The native currency as bytes. As the recipient of a refund option, it means the depositor. */
export function nativeCurrencyBytes(vm: VmType): Hex {
  return encodeAddress(vm, nativeCurrency(vm));
}

/**
 * Returns `text` if it is a transaction id in canonical format. Idempotency keys contain ids as text, so two
 * formats of one id would be two deposits. EVM and Hyperliquid: `0x` and 64 lower-case hex digits; Bitcoin
 * and Tron: 64 digits without prefix; Lighter: 80; Solana: base58 of 64 bytes.
 * @throws ServiceError INVALID_REQUEST for any other format
 */
export function canonicalTransactionId(vm: VmType, text: string, field?: string): string {
  transactionIdBytes(vm, text, field);
  return text;
}

/**
 * The bytes of a transaction id, as messages hash them.
 * @throws ServiceError INVALID_REQUEST as `canonicalTransactionId`
 */
export function transactionIdBytes(vm: VmType, id: string, field?: string): Hex {
  return transactionIdWith(familyOfVm(vm).codec, id, field);
}

/** Whether `text` is a transaction id in canonical format. */
export function isTransactionId(vm: VmType, text: string): boolean {
  return familyOfVm(vm).codec.transactionIdBytes(text) !== undefined;
}

/** The canonical format of transaction ids, for errors: it follows "must be". */
export function transactionIdFormat(vm: VmType): string {
  return familyOfVm(vm).codec.transactionIdFormat;
}
