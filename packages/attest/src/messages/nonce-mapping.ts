import { nonceMappingTypedData, sha256Text, toHex } from "@causeway/domain";
import type { Address, Hex, Hex32, NonceMapping } from "@causeway/domain";
import { getAddress, hashTypedData } from "viem";
import { hubAlias, type HubChain } from "./hub-addressing.ts";
import type { SetEntry } from "./set-entry.ts";

/**
 * EIP-712 digest of a wallet's nonce mapping.
 * @throws RangeError for an invalid address, id, nonce or chain id
 */
export function nonceMappingDigest(mapping: NonceMapping): Hex32 {
  const { domain, types, primaryType, value } = nonceMappingTypedData(mapping);
  return hashTypedData({ domain, types, primaryType, message: value });
}

/** The id of a nonce's entry in a hub account. */
export function nonceMappingId(nonce: bigint): Hex32 {
  return toHex(sha256Text(`NONCE_MAPPING:${nonce}`));
}

/**
 * The hub entry of a nonce mapping. The mapping determines all of it, so that every oracle signs the same
 * bytes.
 * @param chain the wallet's chain
 * @throws ServiceError INVALID_REQUEST if `wallet` belongs to another chain family
 */
export function nonceMappingEntry(
  chain: HubChain,
  { wallet, depositor, id, nonce }: Pick<NonceMapping, "wallet" | "depositor" | "id" | "nonce">,
): SetEntry {
  const user = hubAlias(chain, wallet);
  return {
    user,
    id: nonceMappingId(nonce),
    data: `${id.toLowerCase() as Hex}${depositor.slice(2).toLowerCase()}`,
    // Hashed as text, so the letter case matters: EIP-55, as in other implementations.
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
