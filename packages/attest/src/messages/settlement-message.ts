import {
  arrayHash,
  keccakHex,
  orderIdOf,
  ServiceError,
  structWriter,
  toHex,
  type Hex,
  type Hex32,
  type Order,
} from "@causeway/domain";
import { transactionIdBytes } from "@causeway/families";
import type { FamilyOf } from "./chain-families.ts";
import { messageTypes } from "./message-types.ts";
import { typeHash } from "./struct-type.ts";

/** Numbers of the fill and refund states in messages; only a success is ever attested. */
export const SETTLEMENT_STATUS = { failed: 0, successful: 1 } as const;

/** The deposit that pays an input of the order. */
export interface InputEntry {
  readonly transactionId: string;
  readonly onchainId: Hex32;
  readonly inputIndex: number;
}

export interface RefundEntry {
  readonly transactionId: string;
  readonly inputIndex: number;
  /** Index of the input's refund option that was paid. */
  readonly refundIndex: number;
}

export interface SettlementResult {
  readonly orderId: Hex32;
  readonly status: (typeof SETTLEMENT_STATUS)[keyof typeof SETTLEMENT_STATUS];
  /** The weighted difference between deposits and requested amounts, in parts of 1e18; negative if below. */
  readonly totalWeightedInputPaymentBpsDiff: bigint;
}

interface SettlementData {
  readonly order: Order;
  /**
   * Id of `order`, if already computed: hashing the order is most of a message's cost. Absent: computed here.
   */
  readonly orderId?: Hex32;
  readonly orderSignature: Hex;
  readonly inputs: readonly InputEntry[];
}

/** States that the solver filled an order whose deposits are final. */
export interface SolverFillMessage {
  readonly data: SettlementData & { readonly fill: { readonly transactionId: string } };
  readonly result: SettlementResult;
}

/** States that the solver refunded the deposits of an order. */
export interface SolverRefundMessage {
  readonly data: SettlementData & { readonly refunds: readonly RefundEntry[] };
  readonly result: SettlementResult;
}

const fillTypes = messageTypes.solverFill;
const refundTypes = messageTypes.solverRefund;
const FILL = typeHash(fillTypes, "SolverFill");
const FILL_DATA = typeHash(fillTypes, "Data");
const FILL_ENTRY = typeHash(fillTypes, "FillEntry");
const REFUND = typeHash(refundTypes, "SolverRefund");
const REFUND_DATA = typeHash(refundTypes, "Data");
const REFUND_ENTRY = typeHash(refundTypes, "RefundEntry");
const INPUT_ENTRY = typeHash(fillTypes, "InputEntry");
const RESULT = typeHash(fillTypes, "Result");

const messageWriter = structWriter(3);
const dataWriter = structWriter(5);
const inputWriter = structWriter(4);
const fillWriter = structWriter(2);
const refundWriter = structWriter(4);
const resultWriter = structWriter(4);

/**
 * Id of the message: its EIP-712 struct hash, without a domain. The hash of the order inside is the order id.
 * @throws ServiceError INVALID_REQUEST for a transaction id of another chain family or an index that the
 * order lacks, RangeError for a value that does not fit its type
 */
export function solverFillId(familyOf: FamilyOf, { data, result }: SolverFillMessage): Hex32 {
  const { chainId } = data.order.output;
  const fillHash = fillWriter
    .start(FILL_ENTRY)
    .word(transactionHash(familyOf, chainId, data.fill.transactionId))
    .hash();
  return messageId(FILL, dataHash(FILL_DATA, familyOf, data, fillHash), result);
}

/** Id of the message, as `solverFillId`. @throws as `solverFillId`. */
export function solverRefundId(familyOf: FamilyOf, { data, result }: SolverRefundMessage): Hex32 {
  const refundsHash = arrayHash(data.refunds, ({ transactionId, inputIndex, refundIndex }) => {
    const option = data.order.inputs[inputIndex]?.refunds[refundIndex];
    if (option === undefined) throw missingIn("refunds", `refund ${refundIndex} of input ${inputIndex}`);
    return refundWriter
      .start(REFUND_ENTRY)
      .word(transactionHash(familyOf, option.chainId, transactionId))
      .uint32(inputIndex)
      .uint32(refundIndex)
      .hash();
  });
  return messageId(REFUND, dataHash(REFUND_DATA, familyOf, data, refundsHash), result);
}

function dataHash(
  type: Uint8Array,
  familyOf: FamilyOf,
  data: SettlementData,
  paymentsHash: Uint8Array,
): Uint8Array {
  const inputsHash = arrayHash(data.inputs, ({ transactionId, onchainId, inputIndex }) => {
    const input = data.order.inputs[inputIndex];
    if (input === undefined) throw missingIn("inputs", `input ${inputIndex}`);
    return inputWriter
      .start(INPUT_ENTRY)
      .word(transactionHash(familyOf, input.payment.chainId, transactionId))
      .bytes32(onchainId)
      .uint32(inputIndex)
      .hash();
  });
  return dataWriter
    .start(type)
    .bytes32(data.orderId ?? orderIdOf(data.order))
    .word(keccakHex(data.orderSignature))
    .word(inputsHash)
    .word(paymentsHash)
    .hash();
}

function messageId(type: Uint8Array, data: Uint8Array, result: SettlementResult): Hex32 {
  const resultHash = resultWriter
    .start(RESULT)
    .bytes32(result.orderId)
    .uint8(result.status)
    .int256(result.totalWeightedInputPaymentBpsDiff)
    .hash();
  return toHex(messageWriter.start(type).word(data).word(resultHash).hash());
}

function transactionHash(familyOf: FamilyOf, chain: string, transactionId: string): Uint8Array {
  return keccakHex(transactionIdBytes(familyOf(chain), transactionId));
}

function missingIn(field: string, what: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `invariant violated: order has no ${what}`, { field });
}
