import { executionTypes, oracleDomain } from "@causeway/contracts";
import fc from "fast-check";
import { hashMessage, hashTypedData, recoverAddress } from "viem";
import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import depositVector from "../../../../test/fixtures/oracle/message-01-deposit-evm.json" with { type: "json" };
import actionsVector from "../../../../test/fixtures/oracle/execution-01-actions.json" with { type: "json" };
import { executionDigester, isSameExecution } from "./execution.ts";
import { messageDigest } from "./message-digest.ts";

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);

test("the message signature in the contract's vectors is the oracle's signature over the digest of the message id", async () => {
  const { id, signature, oracle } = depositVector.output;
  const signer = await recoverAddress({ hash: messageDigest(id as Hex), signature: signature as Hex });
  expect(signer.toLowerCase()).toBe(oracle);
});

test("the digest of a message id equals viem's personal message hash of its raw bytes", () => {
  fc.assert(
    fc.property(hex(32), (id) => {
      expect(messageDigest(id)).toBe(hashMessage({ raw: id }));
    }),
  );
});

test("refuses an id that is not 32 bytes", () => {
  for (const bad of ["0x", "0x12", `0x${"1".repeat(62)}`, `0x${"1".repeat(66)}`, `0x${"z".repeat(64)}`])
    expect(() => messageDigest(bad as Hex)).toThrow(RangeError);
});

const hub = {
  domain: { name: "Oracle", version: "1" },
  chainId: 537713,
  oracleAddress: "0x1111111111111111111111111111111111111111",
} as const;

test("computes viem's typed data hash of an execution, regardless of earlier hashes", () => {
  const hubArbitrary = fc.record({
    // viem omits an empty text from the domain's type.
    domain: fc.record({ name: fc.string({ minLength: 1 }), version: fc.string({ minLength: 1 }) }),
    chainId: fc.integer({ min: 1 }),
    oracleAddress: hex(20),
  });
  const executionArbitrary = fc.record({
    idempotencyKey: hex(32),
    actions: fc.array(hex(0, 200), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(
      hubArbitrary,
      fc.array(executionArbitrary, { minLength: 1, maxLength: 3 }),
      (hub, executions) => {
        const digest = executionDigester(hub);
        const domain = oracleDomain(hub.chainId, hub.oracleAddress, hub.domain);
        for (const message of executions)
          expect(digest(message)).toBe(
            hashTypedData({ domain, types: executionTypes, primaryType: "Execution", message }),
          );
      },
    ),
  );
});

test("keeps the digesters of two hubs independent", () => {
  const execution = {
    idempotencyKey: `0x${"ab".repeat(32)}` as Hex,
    actions: actionsVector.output.encoded as Hex[],
  };
  const first = executionDigester(hub);
  const before = first(execution);
  const second = executionDigester({ ...hub, chainId: 1 });
  expect(second(execution)).not.toBe(before);
  expect(first(execution)).toBe(before);
});

test("refuses an execution with a malformed key or action, and ignores letter case", () => {
  const digest = executionDigester(hub);
  const idempotencyKey: Hex = `0x${"ab".repeat(32)}`;
  expect(digest({ idempotencyKey: `0x${"AB".repeat(32)}`, actions: ["0xAB"] })).toBe(
    digest({ idempotencyKey, actions: ["0xab"] }),
  );
  expect(() => digest({ idempotencyKey: "0xab", actions: [] })).toThrow(RangeError);
  for (const action of ["0xabc", "ab", "0xzz"])
    expect(() => digest({ idempotencyKey, actions: [action as Hex] })).toThrow(RangeError);
});

test("compares executions by key and ordered actions, ignoring letter case", () => {
  const expected = { idempotencyKey: "0xab", actions: ["0xcd", "0xef"] } as const;
  const { idempotencyKey, actions } = expected;
  expect(isSameExecution(expected, { idempotencyKey: "0xAB", actions: ["0xCD", "0xEF"] })).toBe(true);
  expect(isSameExecution(expected, { idempotencyKey: "0xac", actions })).toBe(false);
  for (const others of [["0xcd"], ["0xef", "0xcd"], ["0xcd", "0xef", "0xef"], []])
    expect(isSameExecution(expected, { idempotencyKey, actions: others })).toBe(false);
});
