import { inspect } from "node:util";
import { keccak256, recoverAddress, toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
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

test("the same digest gives the same bytes, with low s", async () => {
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

test("accepts a key with and without 0x, in either case", () => {
  const key = "5DE4111AFA1A4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
  const address = privateKeyToAddress(`0x${key}`).toLowerCase();
  for (const text of [key, `0x${key}`, key.toLowerCase()]) expect(rawKeySigner(text).address).toBe(address);
});

test("refuses an invalid key without showing it", () => {
  const order = CURVE_ORDER.toString(16);
  for (const bad of [
    "",
    "0x",
    "0x00",
    "00".repeat(32),
    `0x${"00".repeat(32)}`,
    `0x${"ff".repeat(32)}`,
    order,
    `0x${order}`,
    `0x${"zz".repeat(32)}`,
    `0x${"11".repeat(31)}`,
    `0x${"11".repeat(33)}`,
    `0x0x${"11".repeat(31)}`,
    ` 0x${"11".repeat(32)}`,
    `0x${"11".repeat(32)}\n`,
  ]) {
    let shown = "";
    try {
      rawKeySigner(bad);
    } catch (error) {
      shown = inspect(error, { showHidden: true, depth: null });
    }
    expect(shown).toContain("private key");
    if (bad.length > 10) expect(shown).not.toContain(bad.trim().slice(-20));
  }
  expect(rawKeySigner((CURVE_ORDER - 1n).toString(16)).address).toMatch(/^0x/);
});

test("a signer does not show its key when inspected, serialized or failing", async () => {
  const signer = rawKeySigner(KEY);
  const failure: unknown = await signer.signDigest("0x11").catch((error: unknown) => error);
  const deep = { showHidden: true, depth: null, getters: true };
  for (const shown of [
    inspect(signer, deep),
    JSON.stringify(signer),
    String(signer),
    inspect(failure, deep),
  ]) {
    expect(shown).not.toMatch(/1111111|17,\s*17|11 11 11/);
  }
});

test("refuses to sign a malformed digest, which a lenient decoder would truncate", async () => {
  const signer = rawKeySigner(KEY);
  const digest = keccak256("0x01");
  for (const bad of ["0x", "0x01", `${digest}00`, digest.slice(2), digest.slice(0, -1) + "g"])
    await expect(signer.signDigest(bad as `0x${string}`)).rejects.toThrow(RangeError);
});
