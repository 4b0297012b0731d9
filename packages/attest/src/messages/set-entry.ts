import type { Address, Hex, Hex32 } from "@causeway/domain";
import { hashTypedData } from "viem";

/** What oracles sign for a hub's mapping contract: an entry of a hub account. */
export interface SetEntry {
  /** Hub account, see `hubAlias`. */
  readonly user: Address;
  readonly id: Hex32;
  readonly data: Hex;
  readonly nonce: Hex32;
}

/** The contract that stores the entry. */
export interface GenericMappingDomain {
  readonly chainId: number;
  readonly verifyingContract: Address;
}

/** EIP-712 types of an entry, as plain data. */
export const setEntryTypes = {
  SetEntry: [
    { name: "user", type: "address" },
    { name: "id", type: "bytes32" },
    { name: "data", type: "bytes" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** EIP-712 digest of an entry. @throws the library's error if a value does not fit its type */
export function setEntryDigest(domain: GenericMappingDomain, entry: SetEntry): Hex32 {
  return hashTypedData({
    domain: { name: "GenericMapping", version: "1", ...domain },
    types: setEntryTypes,
    primaryType: "SetEntry",
    message: { ...entry, user: entry.user.toLowerCase() as Address },
  });
}
