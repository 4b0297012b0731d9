import { nonceMappingTypedData, sha256Text, toHex } from "@causeway/domain";
import type { Address, Hex, Hex32, NonceMapping } from "@causeway/domain";
import { families } from "@causeway/families";
import { getAddress, hashTypedData } from "viem";
import { hubAlias } from "./hub-addressing.ts";
import type { MappingEntry } from "./set-entry.ts";

/**
 * EIP-712 digest of a wallet's nonce mapping.
 * @throws RangeError for an invalid address, id, nonce or chain id
 */
export function nonceMappingDigest(mapping: NonceMapping): Hex32 {
  const { domain, types, primaryType, value } = nonceMappingTypedData(mapping);
  return hashTypedData({ domain, types, primaryType, message: value });
}

/**
 * Where the hub stores a nonce's entry: the wallet's hub account and the entry's id.
 * @param chainName the wallet's chain. Only Hyperliquid transfers need entries.
 * @throws ServiceError INVALID_REQUEST if `wallet` is not an address of Hyperliquid
 */
export function nonceMappingSlot(
  chainName: string,
  wallet: Address,
  nonce: bigint,
): Pick<MappingEntry, "user" | "id"> {
  return {
    user: hubAlias({ name: chainName, vmType: families.hyperliquid.codec.vmType }, wallet),
    id: toHex(sha256Text(`NONCE_MAPPING:${nonce}`)),
  };
}

/**
 * The hub entry of a nonce mapping. It depends on the mapping alone, so that every oracle signs the same
 * bytes.
 * @throws as `nonceMappingSlot`
 */
export function nonceMappingEntry(
  chainName: string,
  { wallet, depositor, id, nonce }: Pick<NonceMapping, "wallet" | "depositor" | "id" | "nonce">,
): MappingEntry {
  const { user, id: entryId } = nonceMappingSlot(chainName, wallet, nonce);
  return {
    user,
    id: entryId,
    data: `${id.toLowerCase() as Hex}${depositor.slice(2).toLowerCase()}`,
    // The text is hashed, so the letter case matters: use EIP-55, as other implementations do.
    nonce: toHex(sha256Text(`${getAddress(user)}:${nonce}`)),
  };
}

/** Decodes an entry's data; undefined unless it is an id, or an id and a depositor. */
export function readNonceMappingData(
  data: Hex,
): { readonly id: Hex32; readonly depositor: Address | undefined } | undefined {
  const digits = data.slice(2).toLowerCase();
  if (digits.length !== 64 && digits.length !== 104) return undefined;
  return {
    id: `0x${digits.slice(0, 64)}`,
    depositor: digits.length === 64 ? undefined : `0x${digits.slice(64)}`,
  };
}
