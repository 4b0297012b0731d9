import { sign } from "viem/accounts";
import { privateKeyToAccount } from "viem/accounts";
import { hexToBigInt, keccak256, numberToHex } from "viem";
import { expect, test } from "vitest";
import type { Hex32 } from "@causeway/domain";
import { recoverAuthority } from "./authorizations.ts";
import { signTransaction, type DigestSignature, type UnsignedTransaction } from "./sign-transaction.ts";

const privateKey = `0x${"42".repeat(32)}` as const;
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

async function signDigest(digest: Hex32): Promise<DigestSignature> {
  const { r, s, yParity } = await sign({ hash: digest, privateKey });
  return { r, s, yParity: yParity === 1 ? 1 : 0 };
}

const plain = {
  chainId: 31_001,
  nonce: 0,
  to: `0x${"ab".repeat(20)}`,
  value: 0n,
  data: "0x",
  gas: 21_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 0n,
} as const satisfies UnsignedTransaction;

const unsigned = {
  chainId: 31_001,
  address: `0x${"cd".repeat(20)}`,
  nonce: 0,
  yParity: 0,
  r: `0x${"01".repeat(32)}`,
  s: `0x${"02".repeat(32)}`,
} as const;

test.each([
  ["an empty transfer", plain],
  [
    "value, data and a large nonce",
    { ...plain, nonce: 70_000, value: 10n ** 30n, data: `0x00${"1d".repeat(32)}` },
  ],
  ["equal fees", { ...plain, maxPriorityFeePerGas: 2_000_000_000n }],
] as const)("produces the same bytes and hash as viem: %s", async (_, transaction) => {
  const account = privateKeyToAccount(privateKey);
  const expected = await account.signTransaction({ ...transaction, type: "eip1559" });
  const signed = await signTransaction(transaction, signDigest);
  expect(signed).toEqual({ raw: expected, hash: keccak256(expected) });
});

test("produces the same bytes as viem with authorizations, each of which recovers to its signer", async () => {
  const account = privateKeyToAccount(privateKey);
  const otherAccount = privateKeyToAccount(`0x${"43".repeat(32)}`);
  for (let nonce = 0; nonce < 20; nonce++) {
    const authorizationList = await Promise.all(
      [
        { chainId: 31_001, address: plain.to, nonce },
        { chainId: 0, address: `0x${"cd".repeat(20)}` as const, nonce: nonce * 1_000 },
      ].map(async (authorization) => {
        const { r, s, yParity } = await otherAccount.signAuthorization(authorization);
        return { ...authorization, r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) };
      }),
    );
    const transaction = { ...plain, nonce, authorizationList };
    const signed = await signTransaction(transaction, signDigest);
    const expected = await account.signTransaction({ ...transaction, type: "eip7702" });
    expect(signed).toEqual({ raw: expected, hash: keccak256(expected) });
    expect(expected.startsWith("0x04")).toBe(true);
    const authorities = await Promise.all(authorizationList.map(recoverAuthority));
    expect(new Set(authorities)).toEqual(new Set([otherAccount.address.toLowerCase()]));
  }
});

test("produces the same bytes as viem for many nonces, including leading zeros of r and s", async () => {
  const account = privateKeyToAccount(privateKey);
  for (let nonce = 0; nonce < 300; nonce++) {
    const transaction = { ...plain, nonce };
    const { raw } = await signTransaction(transaction, signDigest);
    expect(raw).toBe(await account.signTransaction({ ...transaction, type: "eip1559" }));
  }
});

test("never serializes a signature with a high s, which nodes refuse", async () => {
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
  { authorizationList: [] },
  { authorizationList: [{ ...unsigned, nonce: -1 }] },
  { authorizationList: [{ ...unsigned, chainId: 0.5 }] },
])("refuses out-of-range fields before signing: %o", async (change) => {
  let isSigned = false;
  const recordSigning = async (digest: Hex32): Promise<DigestSignature> => {
    isSigned = true;
    return await signDigest(digest);
  };
  await expect(signTransaction({ ...plain, ...change }, recordSigning)).rejects.toThrow(RangeError);
  expect(isSigned).toBe(false);
});
