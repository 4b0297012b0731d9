import fc from "fast-check";
import { expect, test } from "vitest";
import { orderIdOf, orderToJson, type Hex, type Order, type VmType } from "@causeway/domain";
import { encodeOrder } from "./encode-order.ts";
import { formatOrder } from "./format-order.ts";

const families: Readonly<Record<string, VmType>> = {
  base: "ethereum-vm",
  solana: "solana-vm",
  bitcoin: "bitcoin-vm",
  exchange: "hyperliquid-vm",
  tron: "tron-vm",
};
const familyOf = (chain: string): VmType => families[chain] ?? "ethereum-vm";

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

/** Valid accounts of each chain, as bytes. */
const accountOn: Readonly<Record<string, fc.Arbitrary<Hex>>> = {
  base: bytes(20).map(hex),
  solana: bytes(32).map(hex),
  bitcoin: fc.oneof(
    bytes(32).map((account): Hex => `0x01${hex(account).slice(2)}`),
    bytes(20).map((account): Hex => `0xff00${hex(account).slice(2)}`),
  ),
  exchange: bytes(20).map(hex),
  tron: bytes(20).map((account): Hex => `0x41${hex(account).slice(2)}`),
};
const chain = fc.constantFrom(...Object.keys(families));
const onSome = chain.chain((name) =>
  fc.record({
    name: fc.constant(name),
    account: accountOn[name] ?? fc.constant<Hex>("0x"),
    currency: accountOn[name] ?? fc.constant<Hex>("0x"),
  }),
);
const order: fc.Arbitrary<Order> = fc.tuple(onSome, onSome, onSome).map(([from, to, fee]) => ({
  version: "v1",
  solverChainId: "base",
  solver: `0x${"50".repeat(20)}`,
  salt: `0x${"5a".repeat(32)}`,
  inputs: [
    {
      payment: { chainId: from.name, currency: from.currency, amount: 7n, weight: 1n },
      refunds: [
        {
          chainId: from.name,
          recipient: from.account,
          currency: from.currency,
          minimumAmount: 6n,
          deadline: 9,
          extraData: "0x",
        },
      ],
    },
  ],
  output: {
    chainId: to.name,
    payments: [{ recipient: to.account, currency: to.currency, minimumAmount: 4n, expectedAmount: 5n }],
    calls: [],
    deadline: 8,
    extraData: "0x",
  },
  fees: [
    {
      recipientChainId: fee.name,
      recipient: fee.account,
      currencyChainId: fee.name,
      currency: fee.currency,
      amount: 1n,
    },
  ],
}));

test("an order in client formats decodes to the same id, between any families", () => {
  fc.assert(
    fc.property(order, (someOrder) => {
      const read = encodeOrder(formatOrder(someOrder, familyOf), familyOf);
      expect(read).toEqual(someOrder);
      expect(orderIdOf(read)).toBe(orderIdOf(someOrder));
    }),
  );
});

test("between EVM chains the text equals the bytes", () => {
  fc.assert(
    fc.property(
      order.filter(({ inputs, output, fees }) =>
        [inputs[0]?.payment.chainId, output.chainId, fees[0]?.recipientChainId].every(
          (account) => account === "base",
        ),
      ),
      (someOrder) => {
        expect(formatOrder(someOrder, familyOf)).toEqual(orderToJson(someOrder));
      },
    ),
    { numRuns: 10 },
  );
});

test("refuses bytes that are not an address of their chain, naming the field", () => {
  const [broken] = fc.sample(order, 1);
  const [input] = broken?.inputs ?? [];
  if (broken === undefined || input === undefined) throw new Error("the order has no input");
  const payment = { ...input.payment, chainId: "solana", currency: `0x${"00".repeat(20)}` as const };
  expect(() => formatOrder({ ...broken, inputs: [{ ...input, payment }] }, familyOf)).toThrow(
    "inputs[0].payment.currency",
  );
});
