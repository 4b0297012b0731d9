import fc from "fast-check";
import { keccak256, recoverAddress, toHex } from "viem";
import { expect, test } from "vitest";
import { portableCurve } from "./portable-curve.ts";
import { rawKeySigner } from "./raw-key.ts";
import { parseSignature, recoverSigner } from "./recover-signer.ts";
import { signatureToHex } from "./signer.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const signer = rawKeySigner("11".repeat(32));
const digest = keccak256("0x01");
const word = (value: bigint): string => value.toString(16).padStart(64, "0");

test("parses every signature that it formats", async () => {
  for (let n = 0; n < 50; n++) {
    const signature = await signer.signDigest(keccak256(toHex(n)));
    expect(parseSignature(signatureToHex(signature))).toEqual(signature);
  }
});

test("accepts r and s only in their valid ranges, with s in the lower half", () => {
  const read = (r: bigint, s: bigint) => parseSignature(`0x${word(r)}${word(s)}1b`) !== undefined;
  expect(read(1n, 1n)).toBe(true);
  expect(read(ORDER - 1n, ORDER / 2n)).toBe(true);
  expect(read(0n, 1n)).toBe(false);
  expect(read(1n, 0n)).toBe(false);
  expect(read(ORDER, 1n)).toBe(false);
  expect(read(2n ** 256n - 1n, 1n)).toBe(false);
  expect(read(1n, ORDER / 2n + 1n)).toBe(false);
  expect(read(1n, ORDER - 1n)).toBe(false);
});

test("accepts only the canonical signature format", async () => {
  const signature = await signer.signDigest(digest);
  const good = signatureToHex(signature);
  const highS = `${signature.r}${word(ORDER - BigInt(signature.s))}${signature.yParity === 0 ? "1c" : "1b"}`;
  // High s with the other v recovers to the same signer, so it must be refused.
  expect((await recoverAddress({ hash: digest, signature: highS as `0x${string}` })).toLowerCase()).toBe(
    signer.address,
  );
  const body = good.slice(0, -2);
  const compact = `${signature.r}${word(BigInt(signature.s) + (BigInt(signature.yParity) << 255n))}`;
  for (const other of [
    highS,
    `${body}0${signature.yParity}`,
    `${body}1d`,
    `${body}25`,
    compact,
    body,
    `${good}00`,
    `0x00${good.slice(2)}`,
    good.slice(2),
    good.toUpperCase(),
    good.replace("0x", "0X"),
    `0x${good.slice(2).toUpperCase()}`,
    ` ${good}`,
    `${good}\n`,
    `${good} `,
    good.slice(0, -1),
    good.replace(/.(?=..$)/, "g"),
    "0x",
    "",
  ]) {
    expect(parseSignature(other), other).toBeUndefined();
    expect(recoverSigner(digest, other), other).toBeUndefined();
  }
  expect(recoverSigner(digest, good)).toBe(signer.address);
});

test("recovers the same signer as viem, with either curve implementation, for any digest and signature", async () => {
  const part = fc.bigInt({ min: 1n, max: ORDER / 2n }).map(word);
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes)),
      part,
      part,
      fc.constantFrom("1b", "1c"),
      async (digest, r, s, v) => {
        const signature = `0x${r}${s}${v}` as const;
        const expected = await recoverAddress({ hash: digest, signature }).then(
          (address) => address.toLowerCase(),
          () => undefined,
        );
        expect(recoverSigner(digest, signature)).toBe(expected);
        expect(recoverSigner(digest, signature, portableCurve)).toBe(expected);
      },
    ),
    { numRuns: 100 },
  );
});

test("recovers a different signer for a different digest", async () => {
  const good = signatureToHex(await signer.signDigest(digest));
  const other = recoverSigner(keccak256("0x02"), good);
  expect(other).toMatch(/^0x[0-9a-f]{40}$/);
  expect(other).not.toBe(signer.address);
});

test("throws for a malformed digest instead of reporting an invalid signature", async () => {
  const good = signatureToHex(await signer.signDigest(digest));
  for (const bad of ["0x", "0x01", `${digest}00`, digest.slice(2), `0x${"zz".repeat(32)}`])
    expect(() => recoverSigner(bad as `0x${string}`, good)).toThrow(RangeError);
});
