import { sign } from "viem/accounts";
import { privateKeyToAccount } from "viem/accounts";
import { hexToBigInt, keccak256, numberToHex } from "viem";
import { expect, test } from "vitest";
import type { Hex32 } from "@causeway/domain";
import { signTransaction, type DigestSignature, type UnsignedTransaction } from "./sign-transaction.ts";

const privateKey = `0x${"42".repeat(32)}` as const;
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

async function signDigest(digest: Hex32): Promise<DigestSignature> {
  const { r, s, yParity } = await sign({ hash: digest, privateKey });
  return { r, s, yParity: yParity === 1 ? 1 : 0 };
}

const plain: UnsignedTransaction = {
  chainId: 31_001,
  nonce: 0,
  to: `0x${"ab".repeat(20)}`,
  value: 0n,
  data: "0x",
  gas: 21_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 0n,
};

test.each([
  ["an empty transfer", plain],
  [
    "value, data and a large nonce",
    { ...plain, nonce: 70_000, value: 10n ** 30n, data: `0x00${"1d".repeat(32)}` },
  ],
  ["equal fees", { ...plain, maxPriorityFeePerGas: 2_000_000_000n }],
] as const)("bytes and hash are those of a wallet: %s", async (_, transaction) => {
  const account = privateKeyToAccount(privateKey);
  const expected = await account.signTransaction({ ...transaction, type: "eip1559" });
  const signed = await signTransaction(transaction, signDigest);
  expect(signed).toEqual({ raw: expected, hash: keccak256(expected) });
});

test("many nonces sign alike, leading zeros of r and s included", async () => {
  const account = privateKeyToAccount(privateKey);
  for (let nonce = 0; nonce < 300; nonce++) {
    const transaction = { ...plain, nonce };
    const { raw } = await signTransaction(transaction, signDigest);
    expect(raw).toBe(await account.signTransaction({ ...transaction, type: "eip1559" }));
  }
});

test("a signature with a high s, which nodes refuse, is never serialised", async () => {
  const flipped = async (digest: Hex32): Promise<DigestSignature> => {
    const { r, s, yParity } = await signDigest(digest);
    return { r, s: numberToHex(order - hexToBigInt(s), { size: 32 }), yParity: yParity === 1 ? 0 : 1 };
  };
  await expect(signTransaction(plain, flipped)).rejects.toThrow(RangeError);
});

test.each([
  { nonce: -1 },
  { nonce: 1.5 },
  { chainId: 0 },
  { gas: 0n },
  { value: -1n },
  { maxPriorityFeePerGas: 3_000_000_000n },
])("out of range is refused before anything is signed: %o", async (change) => {
  let asked = false;
  const watch = async (digest: Hex32): Promise<DigestSignature> => {
    asked = true;
    return await signDigest(digest);
  };
  await expect(signTransaction({ ...plain, ...change }, watch)).rejects.toThrow(RangeError);
  expect(asked).toBe(false);
});
