import { keccak256, recoverAddress, toHex } from "viem";
import { expect, test } from "vitest";
import { signatureToHex } from "./signer.ts";
import { rawKeySigner } from "./raw-key.ts";

const KEY = `0x${"11".repeat(32)}` as const;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test("a signature over a digest recovers to the signer's address", async () => {
  const signer = rawKeySigner(KEY);
  for (let n = 0; n < 20; n++) {
    const digest = keccak256(toHex(`message ${n}`));
    const signature = signatureToHex(await signer.signDigest(digest));
    expect((await recoverAddress({ hash: digest, signature })).toLowerCase()).toBe(signer.address);
  }
});

test("the same digest gives the same bytes, with s in the lower half", async () => {
  const signer = rawKeySigner(KEY);
  const digest = keccak256(toHex("again"));
  const first = await signer.signDigest(digest);
  expect(await signer.signDigest(digest)).toEqual(first);
  expect(BigInt(first.s)).toBeLessThanOrEqual(CURVE_ORDER / 2n);
});

test("r and s keep their leading zeros: a signature is always 65 bytes", async () => {
  const signer = rawKeySigner(KEY);
  const lengths = new Set<number>();
  for (let n = 0; n < 400; n++)
    lengths.add(signatureToHex(await signer.signDigest(keccak256(toHex(n)))).length);
  expect([...lengths]).toEqual([2 + 65 * 2]);
});

test("a key that is none is refused, and the refusal does not show it", () => {
  for (const bad of [
    "0x",
    "0x00",
    `0x${"00".repeat(32)}`,
    `0x${"ff".repeat(32)}`,
    `0x${"zz".repeat(32)}`,
  ] as const) {
    let message = "";
    try {
      rawKeySigner(bad as `0x${string}`);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain("private key");
    if (bad.length > 10) expect(message).not.toContain(bad.slice(2));
  }
});
