import fc from "fast-check";
import type { Hex32 } from "@causeway/domain";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/execution-03-idempotency.json" with { type: "json" };
import { deterministicId, onchainId } from "./deterministic-id.ts";
import { depositKey, fillKey, initiationKey, refundKey, withdrawalKey } from "./settlement-keys.ts";

test("computes the ids in the contract's test vectors", () => {
  expect(vector.input.parts.map(deterministicId)).toEqual(vector.output.keys);
  const [deposit, log] = vector.input.parts as [string[], string[]];
  expect(depositKey(deposit[0]!, deposit[1]!)).toBe(vector.output.keys[0]);
  expect(onchainId(log[0]!, log[1]!, log[2]!)).toBe(vector.output.keys[1]);
});

test("gives each list of parts its own id, ignoring letter case", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "0", ""), maxLength: 3 });
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(deterministicId(a) === deterministicId(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
  expect(deterministicId(["A"])).toBe(deterministicId(["a"]));
  expect(() => deterministicId(["a:b"])).toThrow(RangeError);
});

const id = (byte: string): Hex32 => `0x${byte.repeat(32)}`;
const orderId = id("07");
const payment = { chain: "base", transactionId: id("aa") };
const settlement = { orderId, onchainIds: [id("0f"), id("0a"), id("f0")], payment };

test("keyed by payment: one transaction settles an order once, as a fill or a refund, regardless of the named deposits", () => {
  const key = fillKey("payment", settlement);
  expect(key).toBe(deterministicId([orderId, "base", id("aa")]));
  expect(fillKey("payment", { ...settlement, onchainIds: [id("01")] })).toBe(key);
  expect(refundKey("payment", { ...settlement, onchainIds: [id("02")] }, 1)).toBe(key);
  expect(fillKey("payment", { ...settlement, orderId: id("08") })).not.toBe(key);
  expect(fillKey("payment", { ...settlement, payment: { ...payment, chain: "ethereum" } })).not.toBe(key);
  expect(fillKey("payment", { ...settlement, payment: { ...payment, transactionId: id("ab") } })).not.toBe(
    key,
  );
});

test("keyed by payment: an order with several inputs is refunded once, regardless of the paying transactions", () => {
  const key = refundKey("payment", settlement, 2);
  expect(key).toBe(deterministicId([orderId, "refunds"]));
  expect(refundKey("payment", { ...settlement, payment: { chain: "solana", transactionId: "x" } }, 3)).toBe(
    key,
  );
});

test("keyed by deposits: a set of deposits is settled once, regardless of their order", () => {
  const key = fillKey("deposits", settlement);
  const sorted = deterministicId([id("0a"), id("0f"), id("f0")]);
  expect(key).toBe(deterministicId([sorted, orderId]));
  expect(fillKey("deposits", { ...settlement, onchainIds: settlement.onchainIds.toReversed() })).toBe(key);
  expect(refundKey("deposits", settlement, 1)).toBe(key);
  expect(refundKey("deposits", settlement, 3)).toBe(key);
  expect(fillKey("deposits", { ...settlement, onchainIds: [id("0a")] })).not.toBe(key);
  for (const onchainIds of [[id("0a"), id("0A")], ["0x0a" as Hex32]])
    expect(() => fillKey("deposits", { ...settlement, onchainIds })).toThrow(RangeError);
});

test("a withdrawal has one key per outcome, and the caller cannot choose it", () => {
  expect(withdrawalKey(id("01"), "executed")).toBe(deterministicId([id("01")]));
  expect(withdrawalKey(id("01"), "expired")).toBe(deterministicId([id("01"), "2"]));
  expect(initiationKey("hub", 12n, "0x12")).toBe(deterministicId(["hub", "12", "0x12"]));
});
