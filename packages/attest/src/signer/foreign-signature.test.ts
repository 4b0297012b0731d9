import { secp256k1 } from "@noble/curves/secp256k1";
import fc from "fast-check";
import { hashMessage, hexToBytes, keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import { addressOf } from "./address-of.ts";
import { foreignSignature } from "./foreign-signature.ts";
import { parseSignature, recoverSigner } from "./recover-signer.ts";
import { rawKeySigner } from "./raw-key.ts";
import { signatureToHex } from "./signer.ts";
import { pointOfSpki } from "./spki.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Vector kms-01: answers of a key service for a well-known development key, with high and low s and a short
 * r.
 */
const vector = {
  spki: "0x3056301006072a8648ce3d020106052b8104000a03420004ba5734d8f7091719471e7f7ed6b9df170dc70cc661ca05e688601ad984f068b0d67351e5f06073092499336ab0839ef8a521afd334e53807205fa2f08eec74f4",
  address: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  answers: [
    {
      message: "0x0707070707070707070707070707070707070707070707070707070707070707",
      digest: "0xd2f8c501bf027ff57600c40ef371d617be5faf10262027ffe2a06e6ea36b57e8",
      der: "0x3046022100f3c92d1d84c2e5bd444dfa957e843d50c4779c51a3929377fd7bdff067992c66022100daad3644f31494172d6206c4b4196f379a2b78074c540b71eb54dd63ea82dc39",
      signature:
        "0xf3c92d1d84c2e5bd444dfa957e843d50c4779c51a3929377fd7bdff067992c662552c9bb0ceb6be8d29df93b4be690c7208364df62f494c9d47d8128e5b365081c",
    },
    {
      message: "0x0707070707070707070707070707070707070707070707070707070707070707",
      digest: "0xd2f8c501bf027ff57600c40ef371d617be5faf10262027ffe2a06e6ea36b57e8",
      der: "0x3045022100f3c92d1d84c2e5bd444dfa957e843d50c4779c51a3929377fd7bdff067992c6602202552c9bb0ceb6be8d29df93b4be690c7208364df62f494c9d47d8128e5b36508",
      signature:
        "0xf3c92d1d84c2e5bd444dfa957e843d50c4779c51a3929377fd7bdff067992c662552c9bb0ceb6be8d29df93b4be690c7208364df62f494c9d47d8128e5b365081c",
    },
    {
      message: "0x79d46052a0afb042a8004081c8dbae859d384d279336d0aa368f3fede49cebf9",
      digest: "0x2eb496e3180d18ab3fa4e6ab32d1faa22bb5a934f408cb1037541c266bac2ed3",
      der: "0x3044021f52edbd8cbcaca9189915af30cc33e1c369d830aa84a8cd1761ba3c19c39691022100c0cdf7fc2f0f5301c875875b81d2acd8dcebe5474b252e82dfb8186cc19154a7",
      signature:
        "0x0052edbd8cbcaca9189915af30cc33e1c369d830aa84a8cd1761ba3c19c396913f320803d0f0acfe378a78a47e2d5325ddc2f79f642371b8e01a46200ea4ec9a1c",
    },
    {
      message: "0x79d46052a0afb042a8004081c8dbae859d384d279336d0aa368f3fede49cebf9",
      digest: "0x2eb496e3180d18ab3fa4e6ab32d1faa22bb5a934f408cb1037541c266bac2ed3",
      der: "0x3043021f52edbd8cbcaca9189915af30cc33e1c369d830aa84a8cd1761ba3c19c3969102203f320803d0f0acfe378a78a47e2d5325ddc2f79f642371b8e01a46200ea4ec9a",
      signature:
        "0x0052edbd8cbcaca9189915af30cc33e1c369d830aa84a8cd1761ba3c19c396913f320803d0f0acfe378a78a47e2d5325ddc2f79f642371b8e01a46200ea4ec9a1c",
    },
  ],
} as const;

test("vector kms-01: the address of the key", () => {
  const point = pointOfSpki(hexToBytes(vector.spki));
  expect(point && addressOf(point)).toBe(vector.address);
});

test("vector kms-01: converts the service's answer to a signature that contracts accept", () => {
  for (const { message, digest, der, signature } of vector.answers) {
    expect(hashMessage({ raw: message })).toBe(digest);
    const read = foreignSignature(hexToBytes(der), digest, vector.address);
    expect(read && signatureToHex(read)).toBe(signature);
    expect(recoverSigner(digest, signature)).toBe(vector.address);
  }
});

test("converts low and high s of either parity to the canonical signature by the key", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.bigInt({ min: 1n, max: ORDER - 1n }),
      fc.boolean(),
      (bytes, key, flip) => {
        const digest = keccak256(bytes);
        const { r, s } = secp256k1.sign(digest.slice(2), key);
        const made = new secp256k1.Signature(r, flip ? ORDER - s : s);
        const { address } = rawKeySigner(key.toString(16).padStart(64, "0"));
        const read = foreignSignature(made.toDERRawBytes(), digest, address);
        const hex = read && signatureToHex(read);
        expect(hex && parseSignature(hex)).toEqual(read);
        expect(hex && recoverSigner(digest, hex)).toBe(address);
        seen.add(`${flip} ${read?.yParity}`);
      },
    ),
    { numRuns: 60 },
  );
  expect(seen.size).toBe(4);
});

test("refuses a signature by another key or over another digest", () => {
  const [{ der, digest }] = vector.answers;
  expect(foreignSignature(hexToBytes(der), digest, rawKeySigner("11".repeat(32)).address)).toBeUndefined();
  expect(foreignSignature(hexToBytes(der), keccak256("0x01"), vector.address)).toBeUndefined();
});

test("refuses r and s outside the curve's order", () => {
  const { r, s } = secp256k1.sign(vector.answers[0].digest.slice(2), 7n);
  const { address } = rawKeySigner("07".padStart(64, "0"));
  const read = (r: bigint, s: bigint) => foreignSignature(der(r, s), vector.answers[0].digest, address);
  expect(read(r, s)).toBeDefined();
  for (const outside of [0n, ORDER, ORDER + s, 2n ** 256n - 1n]) {
    expect(read(r, outside)).toBeUndefined();
    expect(read(outside, s)).toBeUndefined();
  }
});

function der(r: bigint, s: bigint): Uint8Array {
  const integer = (value: bigint): string => {
    const hex = value.toString(16);
    const even = hex.length % 2 === 0 ? hex : `0${hex}`;
    const bytes = /^[89a-f]/.test(even) ? `00${even}` : even;
    return `02${(bytes.length / 2).toString(16).padStart(2, "0")}${bytes}`;
  };
  const body = integer(r) + integer(s);
  return hexToBytes(
    `0x30${toHex(body.length / 2)
      .slice(2)
      .padStart(2, "0")}${body}`,
  );
}
