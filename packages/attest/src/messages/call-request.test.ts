import { callRequestTypes } from "@causeway/contracts";
import { evmCallRequestId } from "@causeway/domain";
import type { EvmCallRequest, Hex } from "@causeway/domain";
import fc from "fast-check";
import { hashStruct } from "viem";
import { expect, test } from "vitest";

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const requestArbitrary: fc.Arbitrary<EvmCallRequest> = fc.record({
  calls: fc.array(fc.record({ to: hex(20), data: hex(0, 100), value: uint256, allowFailure: fc.boolean() }), {
    maxLength: 3,
  }),
  nonce: uint256,
  expiration: uint256,
});

test("the id of a call request is the struct hash of the depository's type", () => {
  fc.assert(
    fc.property(requestArbitrary, ({ calls, ...rest }) => {
      const data = { ...rest, calls: [...calls] };
      const expected = hashStruct({ types: callRequestTypes, primaryType: "CallRequest", data });
      expect(evmCallRequestId(data)).toBe(expected);
    }),
  );
});
