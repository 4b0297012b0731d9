import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { hashStruct } from "viem";
import { expect, test } from "vitest";
import type { Hex } from "../ids/hex.ts";
import { orderIdOf, orderTypes } from "./order-id.ts";
import { orderFromJson, orderToJson } from "./order-json.ts";
import type { OrderJson } from "./order-json.ts";
import type { Order } from "./order.ts";

const fixtures = new URL("../../../../test/fixtures/orders/", import.meta.url);
const vectors = readdirSync(fixtures)
  .map((name) => JSON.parse(readFileSync(new URL(name, fixtures), "utf8")) as Vector)
  .filter((vector): vector is OrderVector => "order" in vector.input);

type OrderVector = { id: string; input: { order: OrderJson }; output: { orderId: Hex } };
type Vector = OrderVector | { id: string; input: object; output: object };

test("the order vectors of the oracle contract give their ids", () => {
  expect(vectors.length).toBeGreaterThanOrEqual(2);
  for (const vector of vectors)
    expect(orderIdOf(orderFromJson(vector.input.order)), vector.id).toBe(vector.output.orderId);
});

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const name = fc.string({ unit: "grapheme", maxLength: 12 });
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const bytes = fc.oneof(hex(20), hex(0, 70));

const anOrder: fc.Arbitrary<Order> = fc.record({
  version: fc.constant("v1" as const),
  solverChainId: name,
  solver: hex(20),
  salt: hex(32),
  inputs: fc.array(
    fc.record({
      payment: fc.record({ chainId: name, currency: bytes, amount: uint256, weight: uint256 }),
      refunds: fc.array(
        fc.record({
          chainId: name,
          recipient: bytes,
          currency: bytes,
          minimumAmount: uint256,
          deadline: uint32,
          extraData: bytes,
        }),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 3 },
  ),
  output: fc.record({
    chainId: name,
    payments: fc.array(
      fc.record({ recipient: bytes, currency: bytes, minimumAmount: uint256, expectedAmount: uint256 }),
      { maxLength: 3 },
    ),
    calls: fc.array(hex(0, 140), { maxLength: 3 }),
    deadline: uint32,
    extraData: bytes,
  }),
  fees: fc.array(
    fc.record({
      recipientChainId: name,
      recipient: bytes,
      currencyChainId: name,
      currency: bytes,
      amount: uint256,
    }),
    { maxLength: 3 },
  ),
});

test("the id of any order equals viem's struct hash", () => {
  fc.assert(
    fc.property(anOrder, (order) => {
      const message = { ...order, salt: BigInt(order.salt) };
      expect(orderIdOf(order)).toBe(hashStruct({ primaryType: "Order", types: orderTypes, data: message }));
    }),
    { numRuns: 150 },
  );
});

test("converting an order to JSON and back returns the same order", () => {
  fc.assert(
    fc.property(anOrder, (order) => {
      expect(orderFromJson(JSON.parse(JSON.stringify(orderToJson(order))) as OrderJson)).toEqual(order);
    }),
    { numRuns: 100 },
  );
});

test("refuses a JSON order with an impossible value, naming the field", () => {
  const good = vectors[0]!.input.order;
  const refused = (json: OrderJson) => {
    try {
      orderFromJson(json);
      return "accepted";
    } catch (error) {
      return (error as { facts: { field: string } }).facts.field;
    }
  };
  expect(refused({ ...good, salt: "0x07" })).toBe("salt");
  expect(refused({ ...good, output: { ...good.output, deadline: 2 ** 32 } })).toBe("output.deadline");
  expect(refused({ ...good, output: { ...good.output, calls: ["0x123"] } })).toBe("output.calls[0]");
  const [input] = good.inputs;
  for (const amount of ["-1", "1.5", "0x1", "", (1n << 256n).toString()])
    expect(refused({ ...good, inputs: [{ ...input!, payment: { ...input!.payment, amount } }] })).toBe(
      "inputs[0].payment.amount",
    );
});

test("refuses to hash an order whose values do not fit their types", () => {
  const order = orderFromJson(vectors[0]!.input.order);
  expect(() => orderIdOf({ ...order, output: { ...order.output, deadline: 2 ** 32 } })).toThrow(RangeError);
  expect(() => orderIdOf({ ...order, solver: "0x12" })).toThrow(RangeError);
  expect(() => orderIdOf({ ...order, output: { ...order.output, extraData: "0x1" } })).toThrow(RangeError);
  expect(() => orderIdOf({ ...order, output: { ...order.output, extraData: "0xzz" } })).toThrow(RangeError);
});
