import { bytesOf } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import type { StoredAccount } from "@causeway/simulators/solana";

/**
 * A lookup table with these addresses, in the format of its program: active, never extended since, and
 * immutable.
 */
export function lookupTable(addresses: readonly string[]): StoredAccount {
  const header = Buffer.alloc(56);
  header.writeUInt32LE(1, 0);
  header.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 4);
  const data = Buffer.concat([header, ...addresses.map(addressBytes)]);
  return {
    lamports: 1_000_000_000n,
    owner: "AddressLookupTab1e1111111111111111111111111",
    executable: false,
    data,
  };
}

/** The 32 bytes of an address. */
export function addressBytes(text: string): Uint8Array {
  return bytesOf(encodeAddress("solana-vm", text));
}
