import { createHash } from "node:crypto";
import { concat, encodePacked, getAddress, hashTypedData, isAddress, keccak256 } from "viem";
import type { NonceMapping } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  nonceMappingDigest,
  nonceMappingEntry,
  nonceMappingSlot,
  readNonceMappingData,
} from "./nonce-mapping.ts";
import { setEntryDigest } from "./set-entry.ts";

const mapping: NonceMapping = {
  walletChain: "exchange",
  wallet: "0x11111111111111111111111111111111111111aa",
  depositor: "0x22222222222222222222222222222222222222bb",
  id: `0x${"0d".repeat(32)}`,
  nonce: 1_763_000_000_123n,
  signatureChainId: 42161,
};
const zero = `0x${"00".repeat(20)}` as const;
const sha256 = (text: string) => `0x${createHash("sha256").update(text).digest("hex")}`;

/** The fields of a type from its text. */
function fieldsOf(type: string): { type: string; name: string }[] {
  return type.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { type, name };
  });
}

test("a wallet signs the documented typed data, in the domain of its current chain", () => {
  const expected = hashTypedData({
    domain: { name: "ServiceNonceMapping", version: "2", chainId: 42161, verifyingContract: zero },
    types: {
      NonceMapping: fieldsOf("string chainId,address wallet,address depositor,bytes32 id,uint256 nonce"),
    },
    primaryType: "NonceMapping",
    message: { ...mapping, chainId: mapping.walletChain },
  });
  expect(nonceMappingDigest(mapping)).toBe(expected);
  const changes: Partial<NonceMapping>[] = [
    { walletChain: "Exchange" },
    { signatureChainId: 1 },
    { wallet: mapping.depositor },
    { depositor: mapping.wallet },
    { id: `0x${"0e".repeat(32)}` },
    { nonce: mapping.nonce + 1n },
  ];
  const digests = changes.map((change) => nonceMappingDigest({ ...mapping, ...change }));
  expect(new Set([expected, ...digests]).size).toBe(7);
});

test("the entry belongs to the wallet's hub account and nonce, and contains the id and the depositor", () => {
  const chain = { name: "exchange-main", vmType: "hyperliquid-vm" } as const;
  const user = `0x${keccak256(encodePacked(["string", "address"], [chain.name, mapping.wallet])).slice(26)}`;
  if (!isAddress(user)) throw new Error("the alias is not an address");
  const upper = (hex: string): `0x${string}` => `0x${hex.slice(2).toUpperCase()}`;
  const upperCase = {
    ...mapping,
    wallet: upper(mapping.wallet),
    depositor: upper(mapping.depositor),
    id: upper(mapping.id),
  };
  for (const variant of [mapping, upperCase])
    expect(nonceMappingEntry(chain.name, variant)).toEqual({
      user,
      id: sha256("NONCE_MAPPING:1763000000123"),
      data: concat([mapping.id, mapping.depositor]),
      nonce: sha256(`${getAddress(user)}:1763000000123`),
    });
  // The alias has letters, so the EIP-55 format differs.
  expect(getAddress(user)).not.toBe(user);
  expect(nonceMappingSlot(chain.name, mapping.wallet, 0n)).toEqual({
    user,
    id: sha256("NONCE_MAPPING:0"),
  });
});

test("accepts only data with an id, or with an id and a depositor", () => {
  const { id, depositor } = mapping;
  expect(readNonceMappingData(id)).toEqual({ id, depositor: undefined });
  expect(readNonceMappingData(concat([id, depositor]))).toEqual({ id, depositor });
  for (const data of ["0x", "0x01", `${id}00`, concat([id, depositor, "0x00"]), concat([id, id])] as const)
    expect(readNonceMappingData(data)).toBeUndefined();
});

test("the signature of an entry is valid for one mapping contract of one hub", () => {
  const entry = nonceMappingEntry("x", mapping);
  const domain = { chainId: 537713, verifyingContract: `0x${"cc".repeat(20)}` } as const;
  const expected = hashTypedData({
    domain: { name: "GenericMapping", version: "1", ...domain },
    types: { SetEntry: fieldsOf("address user,bytes32 id,bytes data,bytes32 nonce") },
    primaryType: "SetEntry",
    message: { ...entry },
  });
  expect(setEntryDigest(domain, entry)).toBe(expected);
  const others = [
    setEntryDigest({ ...domain, chainId: 1 }, entry),
    setEntryDigest({ ...domain, verifyingContract: zero }, entry),
    setEntryDigest(domain, { ...entry, user: zero }),
    setEntryDigest(domain, { ...entry, id: entry.nonce }),
    setEntryDigest(domain, { ...entry, data: "0x" }),
    setEntryDigest(domain, { ...entry, nonce: entry.id }),
  ];
  expect(new Set([expected, ...others]).size).toBe(7);
});
