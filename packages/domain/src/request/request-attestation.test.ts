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

test("the hash is keccak256 of the tuple's ABI encoding, with addresses on the right of their 32 bytes", () => {
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

test("a fact that does not fit its type is refused, not cut", () => {
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
  expect(() => requestAttestationHash({ ...facts, originUser: `0x${"22".repeat(33)}` })).toThrow(RangeError);
});
