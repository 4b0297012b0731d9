import fc from "fast-check";
import { encodeAbiParameters, keccak256, pad, type Hex } from "viem";
import { expect, test } from "vitest";
import { requestAttestationHash } from "./request-attestation.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);

/** The tuple as a contract encodes it. */
const tuple = [
  { type: "bytes32" },
  { type: "uint256" },
  { type: "bytes32" },
  { type: "bytes32" },
  { type: "uint256" },
  { type: "uint256" },
  { type: "bytes32" },
] as const;

test("the hash is keccak256 of the tuple's ABI encoding, with addresses right-aligned in their 32 bytes", () => {
  fc.assert(
    fc.property(
      hex(32),
      fc.nat(),
      hex(20),
      hex(20),
      fc.bigInt(0n, 2n ** 256n - 1n),
      fc.nat(),
      hex(20),
      (
        requestId,
        originChainId,
        originUser,
        originCurrency,
        originAmount,
        destinationChainId,
        destinationUser,
      ) => {
        const facts = {
          requestId,
          originChainId,
          originUser,
          originCurrency,
          originAmount,
          destinationChainId,
        };
        expect(requestAttestationHash({ ...facts, destinationUser })).toBe(
          keccak256(
            encodeAbiParameters(tuple, [
              requestId,
              BigInt(originChainId),
              pad(originUser),
              pad(originCurrency),
              originAmount,
              BigInt(destinationChainId),
              pad(destinationUser),
            ]),
          ),
        );
      },
    ),
  );
});

test("refuses a fact that does not fit its type instead of truncating it", () => {
  const facts = {
    requestId: `0x${"11".repeat(32)}`,
    originChainId: 1,
    originUser: `0x${"22".repeat(20)}`,
    originCurrency: `0x${"00".repeat(20)}`,
    originAmount: 1n,
    destinationChainId: 2,
    destinationUser: `0x${"33".repeat(20)}`,
  } as const;
  expect(() => requestAttestationHash({ ...facts, originAmount: 2n ** 256n })).toThrow(RangeError);
  expect(() => requestAttestationHash({ ...facts, originAmount: -1n })).toThrow(RangeError);
  expect(() => requestAttestationHash({ ...facts, originChainId: -1 })).toThrow(RangeError);
});

test("an account of 32 bytes is used unchanged, and a longer one is replaced by its keccak256", () => {
  const taproot: Hex = `0x01${"44".repeat(32)}`;
  const key: Hex = `0x${"55".repeat(32)}`;
  const requestId: Hex = `0x${"11".repeat(32)}`;
  const native: Hex = `0x${"00".repeat(20)}`;
  expect(
    requestAttestationHash({
      requestId,
      originChainId: 1,
      originUser: taproot,
      originCurrency: native,
      originAmount: 1n,
      destinationChainId: 2,
      destinationUser: key,
    }),
  ).toBe(
    keccak256(encodeAbiParameters(tuple, [requestId, 1n, keccak256(taproot), pad(native), 1n, 2n, key])),
  );
});
