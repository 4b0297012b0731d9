import { ServiceError } from "../errors.ts";
import type { Hex } from "../ids/hex.ts";
import type { Order, OrderFee, OrderInput, OrderPayment, OrderRefund } from "./order.ts";

/**
 * An order in JSON (`protocol.v2.orderData`, the oracle's bodies, the database): amounts are decimal strings,
 * deadlines Unix seconds.
 */
export interface OrderJson {
  readonly version: "v1";
  readonly solverChainId: string;
  readonly solver: string;
  readonly salt: string;
  readonly inputs: {
    readonly payment: {
      readonly chainId: string;
      readonly currency: string;
      readonly amount: string;
      readonly weight: string;
    };
    readonly refunds: {
      readonly chainId: string;
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: string;
      readonly deadline: number;
      readonly extraData: string;
    }[];
  }[];
  readonly output: {
    readonly chainId: string;
    readonly payments: {
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: string;
      readonly expectedAmount: string;
    }[];
    readonly calls: string[];
    readonly deadline: number;
    readonly extraData: string;
  };
  readonly fees: {
    readonly recipientChainId: string;
    readonly recipient: string;
    readonly currencyChainId: string;
    readonly currency: string;
    readonly amount: string;
  }[];
}

/** The JSON shape of an order. */
export function orderToJson(order: Order): OrderJson {
  return {
    version: order.version,
    solverChainId: order.solverChainId,
    solver: order.solver,
    salt: order.salt,
    inputs: order.inputs.map(({ payment, refunds }) => ({
      payment: {
        chainId: payment.chainId,
        currency: payment.currency,
        amount: payment.amount.toString(),
        weight: payment.weight.toString(),
      },
      refunds: refunds.map((refund) => ({
        chainId: refund.chainId,
        recipient: refund.recipient,
        currency: refund.currency,
        minimumAmount: refund.minimumAmount.toString(),
        deadline: refund.deadline,
        extraData: refund.extraData,
      })),
    })),
    output: {
      chainId: order.output.chainId,
      payments: order.output.payments.map((payment) => ({
        recipient: payment.recipient,
        currency: payment.currency,
        minimumAmount: payment.minimumAmount.toString(),
        expectedAmount: payment.expectedAmount.toString(),
      })),
      calls: [...order.output.calls],
      deadline: order.output.deadline,
      extraData: order.output.extraData,
    },
    fees: order.fees.map((fee) => ({
      recipientChainId: fee.recipientChainId,
      recipient: fee.recipient,
      currencyChainId: fee.currencyChainId,
      currency: fee.currency,
      amount: fee.amount.toString(),
    })),
  };
}

/**
 * Parses an order from JSON whose shape a schema has checked; hex is lower-cased.
 * @throws ServiceError INVALID_REQUEST naming the field if an amount is not a uint256, a deadline not a
 * uint32 or a text not whole bytes of hex
 */
export function orderFromJson(json: OrderJson): Order {
  return {
    version: json.version,
    solverChainId: json.solverChainId,
    solver: hex(json.solver, "solver", 20),
    salt: hex(json.salt, "salt", 32),
    inputs: json.inputs.map((input, i): OrderInput => {
      const path = `inputs[${i}]`;
      return {
        payment: {
          chainId: input.payment.chainId,
          currency: hex(input.payment.currency, `${path}.payment.currency`),
          amount: uint(input.payment.amount, `${path}.payment.amount`),
          weight: uint(input.payment.weight, `${path}.payment.weight`),
        },
        refunds: input.refunds.map((refund, j): OrderRefund => {
          const refundPath = `${path}.refunds[${j}]`;
          return {
            chainId: refund.chainId,
            recipient: hex(refund.recipient, `${refundPath}.recipient`),
            currency: hex(refund.currency, `${refundPath}.currency`),
            minimumAmount: uint(refund.minimumAmount, `${refundPath}.minimumAmount`),
            deadline: deadline(refund.deadline, `${refundPath}.deadline`),
            extraData: hex(refund.extraData, `${refundPath}.extraData`),
          };
        }),
      };
    }),
    output: {
      chainId: json.output.chainId,
      payments: json.output.payments.map((payment, i): OrderPayment => {
        const path = `output.payments[${i}]`;
        return {
          recipient: hex(payment.recipient, `${path}.recipient`),
          currency: hex(payment.currency, `${path}.currency`),
          minimumAmount: uint(payment.minimumAmount, `${path}.minimumAmount`),
          expectedAmount: uint(payment.expectedAmount, `${path}.expectedAmount`),
        };
      }),
      calls: json.output.calls.map((call, i) => hex(call, `output.calls[${i}]`)),
      deadline: deadline(json.output.deadline, "output.deadline"),
      extraData: hex(json.output.extraData, "output.extraData"),
    },
    fees: json.fees.map((fee, i): OrderFee => ({
      recipientChainId: fee.recipientChainId,
      recipient: hex(fee.recipient, `fees[${i}].recipient`),
      currencyChainId: fee.currencyChainId,
      currency: hex(fee.currency, `fees[${i}].currency`),
      amount: uint(fee.amount, `fees[${i}].amount`),
    })),
  };
}

const HEX_BYTES = /^0x(?:[0-9a-f]{2})*$/;
const DIGITS = /^\d{1,78}$/;

function hex(text: string, field: string, bytes?: number): Hex {
  const lower = text.toLowerCase();
  if (!HEX_BYTES.test(lower) || (bytes !== undefined && lower.length !== 2 + bytes * 2))
    throw invalid(field, bytes === undefined ? "hex bytes" : `${bytes} bytes of hex`);
  return lower as Hex;
}

function uint(text: string, field: string): bigint {
  const value = DIGITS.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value >> 256n !== 0n) throw invalid(field, "a uint256 in decimal digits");
  return value;
}

function deadline(seconds: number, field: string): number {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > 0xffff_ffff)
    throw invalid(field, "a Unix time in seconds below 2^32");
  return seconds;
}

function invalid(field: string, expected: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `${field} must be ${expected}`, { field });
}
