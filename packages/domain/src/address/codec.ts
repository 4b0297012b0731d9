import type { VmType } from "../chain/attestation-chain.ts";
import { ServiceError } from "../errors.ts";
import type { Hex } from "../ids/hex.ts";
import type { AddressFamily } from "./address-family.ts";
import { bitcoinAddresses } from "./bitcoin.ts";
import { ethereumAddresses } from "./ethereum.ts";
import { hyperliquidAddresses } from "./hyperliquid.ts";
import { lighterAddresses } from "./lighter.ts";
import { solanaAddresses } from "./solana.ts";
import { tronAddresses } from "./tron.ts";

const families: Readonly<Record<VmType, AddressFamily>> = {
  "ethereum-vm": ethereumAddresses,
  "solana-vm": solanaAddresses,
  "bitcoin-vm": bitcoinAddresses,
  "hyperliquid-vm": hyperliquidAddresses,
  "lighter-vm": lighterAddresses,
  "tron-vm": tronAddresses,
};

/**
 * The bytes of an address or currency, as orders, messages and the hub hash them: EVM 20 bytes, Solana 32,
 * Bitcoin witness version ‖ program or 0xff ‖ 21 bytes, Tron 21, …
 * @param field name of the request's field, for the error.
 * @throws ServiceError INVALID_REQUEST when `text` is not in the family's one spelling (hex addresses: any
 * case).
 */
export function encodeAddress(vm: VmType, text: string, field = "address"): Hex {
  return families[vm].encode(text) ?? refuse(vm, "an address", text, field);
}

/**
 * The canonical text of encoded bytes: lower-case hex on EVM chains, base58 on Solana and Tron, bech32 or
 * base58 on Bitcoin, digits on Lighter.
 * @throws ServiceError INVALID_REQUEST when the bytes are no address of the family.
 */
export function decodeAddress(vm: VmType, bytes: Hex, field = "address"): string {
  return families[vm].decode(bytes) ?? refuse(vm, "an encoded address", bytes, field);
}

/**
 * The one spelling under which an address is compared and stored.
 *
 * @throws ServiceError INVALID_REQUEST as `encodeAddress`.
 */
export function canonicalAddress(vm: VmType, text: string, field = "address"): string {
  return decodeAddress(vm, encodeAddress(vm, text, field), field);
}

/** How a family writes its native currency, e.g. the zero address on EVM chains. */
export function nativeCurrency(vm: VmType): string {
  return families[vm].nativeCurrency;
}

/**
 * `text` itself, once it is known to be the one spelling of a transaction id. Ids enter idempotency keys as
 * text: two spellings of one transaction would be two deposits. EVM and Hyperliquid: `0x` and 64 lower-case
 * hex digits; Bitcoin and Tron: the 64 digits bare; Lighter: 80 bare digits; Solana: base58 of 64 bytes.
 * @throws ServiceError INVALID_REQUEST for every other spelling.
 */
export function canonicalTransactionId(vm: VmType, text: string, field = "transactionId"): string {
  transactionIdBytes(vm, text, field);
  return text;
}

/**
 * The bytes of a transaction id, as messages hash them.
 *
 * @throws ServiceError INVALID_REQUEST as `canonicalTransactionId`.
 */
export function transactionIdBytes(vm: VmType, id: string, field = "transactionId"): Hex {
  return families[vm].transactionIdBytes(id) ?? refuse(vm, "a transaction id", id, field);
}

function refuse(vm: VmType, what: string, text: string, field: string): never {
  throw new ServiceError("INVALID_REQUEST", `${field} is not ${what} of ${vm}: ${text.slice(0, 100)}`, {
    field,
  });
}
