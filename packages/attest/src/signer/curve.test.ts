import fc from "fast-check";
import { hexToBytes, numberToBytes } from "viem";
import { expect, test } from "vitest";
import { curve } from "./chosen-curve.ts";
import type { Curve } from "./curve.ts";
import { nativeCurve } from "./native-curve.ts";
import { portableCurve } from "./portable-curve.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const bytes = (value: bigint): Uint8Array => numberToBytes(value, { size: 32 });
const key = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(bytes);
// A digest above the order is one hash in 2^128; the two implementations read RFC 6979 differently there.
const digest = fc.oneof(
  fc.bigInt({ min: 0n, max: ORDER - 1n }).map(bytes),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((all) => all.some((byte) => byte !== 255)),
);
const scalar = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
);

/**
 * Platforms with prebuilt bindings, where a fallback is a bug. Elsewhere, the portable curve is tested twice.
 */
const hasNativeBuild = ["linux-x64", "darwin-arm64", "win32-x64"].includes(
  `${process.platform}-${process.arch}`,
);

function native(): Curve {
  const found = nativeCurve();
  if (found === undefined && hasNativeBuild) throw new Error("the native curve does not load");
  return found ?? portableCurve;
}

test("uses the native curve where it is available, and each curve reports its backend", () => {
  expect(curve.backend).toBe(hasNativeBuild ? "native" : "portable");
  expect(native().backend).toBe(curve.backend);
  expect(portableCurve.backend).toBe("portable");
});

test("without the native curve, the portable one does not claim to be native", () => {
  const absent = (): never => {
    throw new Error("No native build was found");
  };
  expect(nativeCurve(absent)).toBeUndefined();
});

test("both curves return the same signature for any digest and key, and recover the key", () => {
  const fast = native();
  fc.assert(
    fc.property(digest, key, (digest, key) => {
      const signature = fast.sign(digest, key);
      expect(hex(signature.rs)).toBe(hex(portableCurve.sign(digest, key).rs));
      expect(signature.yParity).toBe(portableCurve.sign(digest, key).yParity);
      const publicKey = hex(fast.publicKey(key));
      expect(hex(portableCurve.publicKey(key))).toBe(publicKey);
      expect(hex(fast.recover(digest, signature))).toBe(publicKey);
      expect(hex(portableCurve.recover(digest, signature))).toBe(publicKey);
    }),
    { numRuns: 150 },
  );
});

test("both curves agree on invalid signatures, including the limits of the range", () => {
  const fast = native();
  fc.assert(
    fc.property(digest, scalar, scalar, fc.constantFrom(0 as const, 1 as const), (digest, r, s, yParity) => {
      const rs = Buffer.concat([bytes(r), bytes(s)]);
      const found = portableCurve.recover(digest, { rs, yParity });
      expect(hex(fast.recover(digest, { rs, yParity }))).toBe(hex(found));
    }),
    { numRuns: 300 },
  );
});

test("both curves agree on valid keys", () => {
  for (const value of [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n]) {
    const isKey = value > 0n && value < ORDER;
    expect(native().isPrivateKey(bytes(value))).toBe(isKey);
    expect(portableCurve.isPrivateKey(bytes(value))).toBe(isKey);
  }
  for (const length of [0, 31, 33, 64]) {
    expect(native().isPrivateKey(new Uint8Array(length).fill(1))).toBe(false);
    expect(portableCurve.isPrivateKey(new Uint8Array(length).fill(1))).toBe(false);
  }
});

test("refuses to sign or recover from a malformed digest", () => {
  const key = bytes(7n);
  for (const curve of [native(), portableCurve]) {
    const signature = curve.sign(bytes(1n), key);
    for (const length of [0, 31, 33, 64]) {
      expect(() => curve.sign(new Uint8Array(length), key)).toThrow();
      expect(() => curve.recover(new Uint8Array(length), signature)).toThrow(RangeError);
    }
    const short = { rs: signature.rs.subarray(1), yParity: signature.yParity };
    expect(() => curve.recover(bytes(1n), short)).toThrow(RangeError);
  }
});

test("refuses an invalid key without showing it", () => {
  const invalidKey = hexToBytes(`0x${"ff".repeat(32)}`);
  for (const curve of [native(), portableCurve]) {
    for (const act of [() => curve.sign(bytes(1n), invalidKey), () => curve.publicKey(invalidKey)]) {
      expect(act).toThrow();
      expect(act).not.toThrow(/ffff|255,255|1157920892373/);
    }
  }
});

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}
