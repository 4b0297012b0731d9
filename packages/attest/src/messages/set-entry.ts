import { genericMappingDomain, setEntryTypes } from "@causeway/contracts";
import type { ContractDomain } from "@causeway/contracts";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { hashTypedData } from "viem";

/** An entry of a hub account, which oracles sign for the hub's mapping contract. */
export interface MappingEntry {
  /** Hub account, see `hubAlias`. */
  readonly user: Address;
  readonly id: Hex32;
  readonly data: Hex;
  readonly nonce: Hex32;
}

/**
 * EIP-712 digest of an entry for the contract that stores it.
 * @throws viem's error if a value does not fit its type
 */
export function setEntryDigest(
  { chainId, verifyingContract }: Pick<ContractDomain, "chainId" | "verifyingContract">,
  entry: MappingEntry,
): Hex32 {
  return hashTypedData({
    domain: genericMappingDomain(chainId, verifyingContract),
    types: setEntryTypes,
    primaryType: "SetEntry",
    message: { ...entry, user: entry.user.toLowerCase() as Address },
  });
}
