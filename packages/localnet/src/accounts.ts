import { localPrivateKey, type LocalRole } from "@causeway/config";
import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";

/** One account of the local system. Its key is public and the same on every machine. */
export interface LocalAccount {
  readonly role: LocalRole;
  readonly privateKey: Hex;
  readonly address: Address;
}

/** The `index`-th account of a role. */
export function localAccount(role: LocalRole, index = 0): LocalAccount {
  const privateKey = localPrivateKey(role, index);
  return { role, privateKey, address: privateKeyToAddress(privateKey) };
}

/** The first `count` accounts of a role. */
export function localAccounts(role: LocalRole, count: number): LocalAccount[] {
  return Array.from({ length: count }, (_, index) => localAccount(role, index));
}
