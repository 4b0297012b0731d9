import { byVmType, type VmType } from "../chain/family.ts";
import { ServiceError } from "../errors.ts";
import type { Hex } from "../ids/hex.ts";
import type { AddressFamily } from "./address-family.ts";
import { bitcoinAddresses } from "./bitcoin.ts";
import { evmAddresses } from "./evm.ts";
import { hyperliquidAddresses } from "./hyperliquid.ts";
import { lighterAddresses } from "./lighter.ts";
import { solanaAddresses } from "./solana.ts";
import { tronAddresses } from "./tron.ts";

const families = byVmType<AddressFamily>({
  evm: evmAddresses,
  solana: solanaAddresses,
  bitcoin: bitcoinAddresses,
  hyperliquid: hyperliquidAddresses,
  lighter: lighterAddresses,
  tron: tronAddresses,
});

/**
 * The bytes of an address or currency, as orders, messages and the hub hash them: EVM 20 bytes, Solana 32,
 * Bitcoin witness version ‖ program or 0xff ‖ 21 bytes, Tron 21, …
 * @param field name of the request's field, for the error
 * @throws ServiceError INVALID_REQUEST if `text` is not in the family's canonical format (hex addresses: any
 * case)
 */
export function encodeAddress(vm: VmType, text: string, field = "address"): Hex {
  return families[vm].encode(text) ?? refuse(vm, "an address", text, field);
}

/**
 * The canonical text of encoded bytes: lower-case hex on EVM chains, base58 on Solana and Tron, bech32 or
 * base58 on Bitcoin, digits on Lighter.
 * @throws ServiceError INVALID_REQUEST if the bytes are not an address of the family
 */
export function decodeAddress(vm: VmType, bytes: Hex, field = "address"): string {
  return families[vm].decode(bytes) ?? refuse(vm, "an encoded address", bytes, field);
}

/**
 * The canonical format in which an address is compared and stored.
 * @throws ServiceError INVALID_REQUEST as `encodeAddress`
 */
export function canonicalAddress(vm: VmType, text: string, field = "address"): string {
  return decodeAddress(vm, encodeAddress(vm, text, field), field);
}

/** Addresses and transaction ids in one letter case where it does not matter. */
export function canonicalCase(vm: VmType, text: string): string {
  return families[vm].isHex === true ? text.toLowerCase() : text;
}

/** The native currency in a family's format, e.g. the zero address on EVM chains. */
export function nativeCurrency(vm: VmType): string {
  return families[vm].nativeCurrency;
}

/**
 * Returns `text` if it is a transaction id in canonical format. Idempotency keys contain ids as text, so two
 * formats of one id would be two deposits. EVM and Hyperliquid: `0x` and 64 lower-case hex digits; Bitcoin
 * and Tron: 64 digits without prefix; Lighter: 80; Solana: base58 of 64 bytes.
 * @throws ServiceError INVALID_REQUEST for any other format
 */
export function canonicalTransactionId(vm: VmType, text: string, field = "transactionId"): string {
  transactionIdBytes(vm, text, field);
  return text;
}

/**
 * The bytes of a transaction id, as messages hash them.
 * @throws ServiceError INVALID_REQUEST as `canonicalTransactionId`
 */
export function transactionIdBytes(vm: VmType, id: string, field = "transactionId"): Hex {
  return families[vm].transactionIdBytes(id) ?? refuse(vm, "a transaction id", id, field);
}

/** Whether `text` is a transaction id in canonical format. */
export function isTransactionId(vm: VmType, text: string): boolean {
  return families[vm].transactionIdBytes(text) !== undefined;
}

/** The canonical format of transaction ids, for errors: it follows "must be". */
export function transactionIdForm(vm: VmType): string {
  return families[vm].transactionIdForm;
}

function refuse(vm: VmType, what: string, text: string, field: string): never {
  throw new ServiceError("INVALID_REQUEST", `${field} is not ${what} of ${vm}: ${text.slice(0, 100)}`, {
    field,
  });
}
