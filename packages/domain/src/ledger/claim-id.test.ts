import { encodeAbiParameters, keccak256, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import { claimIdOf, type ClaimFacts } from "./claim-id.ts";

const facts: ClaimFacts = {
  salt: `0x${"5a".repeat(32)}`,
  wallet: `0x${"a1".repeat(20)}`,
  chainId: 8453,
  currency: `0x${"c2".repeat(20)}`,
  recipient: `0x${"b3".repeat(20)}`,
  amount: 2n ** 200n + 1n,
  expiresAt: 1_790_000_600,
};

test("a claim id is the hash of the claim's ABI encoding", () => {
  const { salt, wallet, chainId, currency, recipient, amount, expiresAt } = facts;
  const encoded = encodeAbiParameters(
    parseAbiParameters("bytes32, address, uint256, address, address, uint256, uint256"),
    [salt, wallet, BigInt(chainId), currency, recipient, amount, BigInt(expiresAt)],
  );
  expect(claimIdOf(facts)).toBe(keccak256(encoded));
});

test("every fact of a claim changes its id", () => {
  const changes: readonly Partial<ClaimFacts>[] = [
    { salt: `0x${"5b".repeat(32)}` },
    { wallet: facts.recipient },
    { chainId: 1 },
    { currency: facts.wallet },
    { recipient: facts.wallet },
    { amount: facts.amount + 1n },
    { expiresAt: facts.expiresAt + 1 },
  ];
  const ids = new Set([facts, ...changes].map((change) => claimIdOf({ ...facts, ...change })));
  expect(ids.size).toBe(changes.length + 1);
});

test("refuses facts that do not fit their types", () => {
  expect(() => claimIdOf({ ...facts, amount: 2n ** 256n })).toThrow(RangeError);
  expect(() => claimIdOf({ ...facts, amount: -1n })).toThrow(RangeError);
  expect(() => claimIdOf({ ...facts, salt: `0x${"5a".repeat(33)}` })).toThrow(RangeError);
});
