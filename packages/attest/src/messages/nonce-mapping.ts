import { nonceMappingTypedData, sha256Text, toHex } from "@causeway/domain";
import type { Address, Hex, Hex32, NonceMapping } from "@causeway/domain";
import { getAddress, hashTypedData } from "viem";
import { hubAlias, type HubChain } from "./hub-addressing.ts";
import type { SetEntry } from "./set-entry.ts";

/**
 * EIP-712 digest of what a wallet signs about one of its nonces.
 * @throws RangeError for what is no address, id, nonce or chain id
 */
export function nonceMappingDigest(mapping: NonceMapping): Hex32 {
  const { domain, types, primaryType, value } = nonceMappingTypedData(mapping);
  return hashTypedData({ domain, types, primaryType, message: value });
}

/** Under which id an account of the hub keeps what a nonce is for. */
export function nonceMappingId(nonce: bigint): Hex32 {
  return toHex(sha256Text(`NONCE_MAPPING:${nonce}`));
}

/**
 * The entry on the hub that says the same. All of it follows from the mapping, so that every oracle signs the
 * same bytes.
 * @param chain of the wallet. @throws ServiceError INVALID_REQUEST when `wallet` is not of the chain's
 * family.
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
    // Hashed as text, so the spelling counts: EIP-55, as other implementations write it.
    nonce: toHex(sha256Text(`${getAddress(user)}:${nonce}`)),
  };
}

/** What an entry's data says; undefined when it is neither an id nor an id and a depositor. */
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
