import { keccak256, stringToBytes, toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import type { Hex32 } from "@causeway/domain";

/** The roles of keys in the local system. */
export const LOCAL_ROLES = [
  "deployer",
  "owner",
  "allocator",
  "solver",
  "executor",
  "depositAddressOperator",
  "sponsor",
  "user",
  "oracle",
] as const;
export type LocalRole = (typeof LOCAL_ROLES)[number];

/** Keys per role that the local system uses and production refuses. */
export const LOCAL_KEYS_PER_ROLE = 32;

/**
 * Private key of the `n`-th account of a role on the local system: keccak256 of `causeway local <role> <n>`.
 * Anyone can compute it, so it must only hold funds on local chains.
 */
export function localPrivateKey(role: LocalRole, n: number): Hex32 {
  return keccak256(stringToBytes(`causeway local ${role} ${n}`));
}

/**
 * Whether the key is publicly known: one of the local system, or one of the first twenty of the
 * mnemonic that development nodes print at startup. Takes tens of milliseconds; call it once.
 */
export function isLocalKey(privateKey: string): boolean {
  const key = privateKey.toLowerCase();
  return localSystemKeys().includes(key) || developmentNodeKeys().includes(key);
}

function localSystemKeys(): readonly string[] {
  const numbers = Array.from({ length: LOCAL_KEYS_PER_ROLE }, (_, n) => n);
  return LOCAL_ROLES.flatMap((role) => numbers.map((n) => localPrivateKey(role, n)));
}

function developmentNodeKeys(): readonly string[] {
  const mnemonic = "test test test test test test test test test test test junk";
  // The common parent of all keys, so that the mnemonic is stretched only once.
  const parent = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey();
  return Array.from({ length: 20 }, (_, index) => {
    const key = parent.deriveChild(index).privateKey;
    return key === null ? "" : toHex(key);
  });
}
