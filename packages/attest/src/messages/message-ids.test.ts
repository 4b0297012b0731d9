import fc from "fast-check";
import { orderFromJson, orderIdOf } from "@causeway/domain";
import type { Hex, OrderJson, VmType } from "@causeway/domain";
import { hashStruct } from "viem";
import { expect, test } from "vitest";
import depositVector from "../../../../test/fixtures/oracle/message-01-deposit-evm.json" with { type: "json" };
import fillVector from "../../../../test/fixtures/oracle/message-03-solver-fill.json" with { type: "json" };
import { depositoryDepositId } from "./depository-deposit.ts";
import { depositoryWithdrawalId } from "./depository-withdrawal.ts";
import { messageTypes } from "./message-types.ts";
import { solverFillId, solverRefundId } from "./settlement-message.ts";
import type { SolverFillMessage } from "./settlement-message.ts";

const families = fillVector.input.chains as Readonly<Record<string, VmType>>;
const familyOf = (chain: string): VmType => {
  const vm = families[chain];
  if (vm === undefined) throw new Error(`no chain ${chain}`);
  return vm;
};

const { data, result } = depositVector.input.message;
const deposit = {
  data,
  result: {
    ...result,
    onchainId: result.onchainId as Hex,
    depositId: result.depositId as Hex,
    amount: BigInt(result.amount),
  },
};

test("computes the id of the deposit in the contract's vectors", () => {
  expect(depositoryDepositId(familyOf, deposit)).toBe(depositVector.output.id);
});

const fillJson = fillVector.input.message;
const fill = {
  data: {
    ...fillJson.data,
    order: orderFromJson(fillJson.data.order as OrderJson),
    orderSignature: fillJson.data.orderSignature as Hex,
    inputs: fillJson.data.inputs.map((input) => ({ ...input, onchainId: input.onchainId as Hex })),
  },
  result: { orderId: fillJson.result.orderId as Hex, status: 1, totalWeightedInputPaymentBpsDiff: 0n },
} satisfies SolverFillMessage;

test("computes the id of the fill in the contract's vectors", () => {
  expect(solverFillId(familyOf, fill)).toBe(fillVector.output.id);
});

test("a known order id gives the same message id without hashing the order again", () => {
  const orderId = orderIdOf(fill.data.order);
  expect(solverFillId(familyOf, { ...fill, data: { ...fill.data, orderId } })).toBe(fillVector.output.id);
  const other: Hex = `0x${"12".repeat(32)}`;
  expect(solverFillId(familyOf, { ...fill, data: { ...fill.data, orderId: other } })).not.toBe(
    fillVector.output.id,
  );
});

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const int256 = fc.bigInt({ min: -(1n << 255n), max: (1n << 255n) - 1n });
const chain = fc.constantFrom("ethereum", "base");

test("the id of a deposit equals viem's struct hash", () => {
  const aDeposit = fc.record({
    data: fc.record({ chainId: chain, transactionId: hex(32) }),
    result: fc.record({
      onchainId: hex(32),
      depository: hex(20),
      depositId: hex(32),
      depositor: hex(20),
      currency: hex(20),
      amount: uint256,
    }),
  });
  fc.assert(
    fc.property(aDeposit, (message) => {
      expect(depositoryDepositId(familyOf, message)).toBe(
        hashStruct({
          primaryType: "DepositoryDeposit",
          types: messageTypes.depositoryDeposit,
          data: message,
        }),
      );
    }),
  );
});

test("the id of a withdrawal equals viem's struct hash", () => {
  const aWithdrawal = fc.record({
    data: fc.record({ chainId: chain, withdrawal: hex(0, 300) }),
    result: fc.record({
      withdrawalId: hex(32),
      depository: hex(20),
      status: fc.constantFrom(0 as const, 1 as const, 2 as const),
    }),
  });
  fc.assert(
    fc.property(aWithdrawal, (message) => {
      expect(depositoryWithdrawalId(familyOf, message)).toBe(
        hashStruct({
          primaryType: "DepositoryWithdrawal",
          types: messageTypes.depositoryWithdrawal,
          data: message,
        }),
      );
    }),
  );
});

const settlementResult = fc.record({
  orderId: hex(32),
  status: fc.constantFrom(0 as const, 1 as const),
  totalWeightedInputPaymentBpsDiff: int256,
});
const index = fc.constantFrom(0, 1);
const inputs = fc.array(fc.record({ transactionId: hex(32), onchainId: hex(32), inputIndex: index }), {
  maxLength: 3,
});
const [onlyInput] = fill.data.order.inputs;
const twice = { ...onlyInput!, refunds: [onlyInput!.refunds[0]!, onlyInput!.refunds[0]!] };
const order = { ...fill.data.order, inputs: [twice, twice] };
const plainOrder = { ...order, salt: BigInt(order.salt) };

test("the id of a fill equals viem's struct hash", () => {
  const aFill = fc.record({
    data: fc.record({
      order: fc.constant(order),
      orderSignature: hex(0, 80),
      inputs,
      fill: fc.record({ transactionId: hex(32) }),
    }),
    result: settlementResult,
  });
  fc.assert(
    fc.property(aFill, (message) => {
      expect(solverFillId(familyOf, message)).toBe(
        hashStruct({
          primaryType: "SolverFill",
          types: messageTypes.solverFill,
          data: { ...message, data: { ...message.data, order: plainOrder } },
        }),
      );
    }),
  );
});

test("the id of a refund equals viem's struct hash", () => {
  const aRefund = fc.record({
    data: fc.record({
      order: fc.constant(order),
      orderSignature: hex(0, 80),
      inputs,
      refunds: fc.array(fc.record({ transactionId: hex(32), inputIndex: index, refundIndex: index }), {
        maxLength: 3,
      }),
    }),
    result: settlementResult,
  });
  fc.assert(
    fc.property(aRefund, (message) => {
      expect(solverRefundId(familyOf, message)).toBe(
        hashStruct({
          primaryType: "SolverRefund",
          types: messageTypes.solverRefund,
          data: { ...message, data: { ...message.data, order: plainOrder } },
        }),
      );
    }),
  );
});

const upper = (text: string): Hex => `0x${text.slice(2).toUpperCase()}`;

test("ignores letter case of hex", () => {
  expect(
    depositoryDepositId(familyOf, {
      data,
      result: {
        ...deposit.result,
        onchainId: upper(result.onchainId),
        depositId: upper(result.depositId),
        depository: upper(result.depository),
        depositor: upper(result.depositor),
        currency: upper(result.currency),
      },
    }),
  ).toBe(depositVector.output.id);
  const orderSignature = upper(fill.data.orderSignature);
  expect(solverFillId(familyOf, { ...fill, data: { ...fill.data, orderSignature } })).toBe(
    fillVector.output.id,
  );
});

test("refuses malformed hex", () => {
  const withResult = (change: object) => () =>
    depositoryDepositId(familyOf, { data, result: { ...deposit.result, ...change } });
  for (const bad of [
    "0x12",
    `0x${"1".repeat(63)}`,
    `0x${"1".repeat(66)}`,
    `0x${"g".repeat(64)}`,
    "1".repeat(66),
  ]) {
    expect(withResult({ onchainId: bad })).toThrow(RangeError);
    expect(withResult({ depositId: bad })).toThrow(RangeError);
  }
  expect(withResult({ depositor: "0x222" })).toThrow("depositor is not an address of ethereum-vm");
  expect(withResult({ amount: -1n })).toThrow(RangeError);
  expect(withResult({ amount: 1n << 256n })).toThrow(RangeError);
  const withdrawal = (payload: Hex, change: object) => () =>
    depositoryWithdrawalId(familyOf, {
      data: { chainId: "ethereum", withdrawal: payload },
      result: { withdrawalId: `0x${"00".repeat(32)}`, depository: result.depository, status: 0, ...change },
    });
  expect(withdrawal("0x12", { status: 255 })).not.toThrow();
  expect(withdrawal("0x123", {})).toThrow(RangeError);
  expect(withdrawal("0x12", { withdrawalId: "0x12" })).toThrow(RangeError);
  for (const status of [256, -1, 0.5]) expect(withdrawal("0x12", { status })).toThrow(RangeError);
});

test("refuses a transaction id in another format", () => {
  for (const transactionId of [
    upper(data.transactionId),
    data.transactionId.slice(2),
    `${data.transactionId} `,
  ])
    expect(() => depositoryDepositId(familyOf, { ...deposit, data: { ...data, transactionId } })).toThrow(
      "transactionId is not a transaction id of ethereum-vm",
    );
});

test("refuses an index that the order does not have", () => {
  const entry = { transactionId: data.transactionId, onchainId: deposit.result.onchainId, inputIndex: 1 };
  expect(() => solverFillId(familyOf, { ...fill, data: { ...fill.data, inputs: [entry] } })).toThrow(
    "order has no input 1",
  );
  for (const refundIndex of [1, -1, 0.5]) {
    const refunds = [{ transactionId: data.transactionId, inputIndex: 0, refundIndex }];
    expect(() => solverRefundId(familyOf, { ...fill, data: { ...fill.data, refunds } })).toThrow(
      `order has no refund ${refundIndex} of input 0`,
    );
  }
});
