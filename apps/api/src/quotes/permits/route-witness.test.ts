import { routeWitnessTypes } from "@causeway/contracts";
import { authorizationNonce, routeWitnessHash, toHex } from "@causeway/domain";
import type { Address, Hex, RouteWitness } from "@causeway/domain";
import fc from "fast-check";
import { encodeAbiParameters, hashStruct, keccak256, parseAbiParameters } from "viem";
import { expect, test } from "vitest";

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const anAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes): Address => hexOf(bytes));
const anAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const aWitness: fc.Arbitrary<RouteWitness> = fc.record({
  relayer: anAddress,
  refundTo: anAddress,
  refundTokens: fc.array(anAddress, { maxLength: 3 }),
  calls: fc.array(
    fc.record({ to: anAddress, data: fc.uint8Array({ maxLength: 100 }).map(hexOf), value: anAmount }),
    { maxLength: 3 },
  ),
});

/** Hashes by the published types with another implementation. */
function hashByTypes({ calls, ...witness }: RouteWitness): Hex {
  return hashStruct({
    types: routeWitnessTypes,
    primaryType: "RouteWitness",
    data: { ...witness, calls: calls.map((call) => ({ ...call, allowFailure: false })) },
  });
}

test("a witness has the struct hash of its published type, and allows no call to fail", () => {
  fc.assert(
    fc.property(aWitness, (witness) => {
      expect(toHex(routeWitnessHash(witness))).toBe(hashByTypes(witness));
    }),
  );
});

test("an authorization's nonce commits to the route and everything else that is authorized", () => {
  const parameters = parseAbiParameters("bytes32, address, address, uint256, uint256, uint256");
  const authorizations = fc.record({
    token: anAddress,
    from: anAddress,
    value: anAmount,
    validAfter: anAmount,
    validBefore: anAmount,
  });
  fc.assert(
    fc.property(aWitness, authorizations, (witness, authorization) => {
      const { token, from, value, validAfter, validBefore } = authorization;
      const nonce = authorizationNonce(authorization, witness);
      expect(nonce).toBe(
        keccak256(
          encodeAbiParameters(parameters, [
            hashByTypes(witness),
            token,
            from,
            value,
            validAfter,
            validBefore,
          ]),
        ),
      );
      expect(authorizationNonce({ ...authorization, value: value ^ 1n }, witness)).not.toBe(nonce);
      expect(authorizationNonce(authorization, { ...witness, relayer: authorization.from })).not.toBe(nonce);
    }),
  );
});

test("rejects a witness with a malformed address", () => {
  const witness = { relayer: "0x12", refundTo: "0x12", refundTokens: ["0x1234"], calls: [] } as const;
  expect(() => routeWitnessHash(witness)).toThrow(RangeError);
});
