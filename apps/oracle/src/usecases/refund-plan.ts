import { refundDemand, type Hex, type OrderRefund } from "@causeway/domain";
import {
  canonicalTransactionId,
  decodeAddress,
  encodeAddress,
  nativeCurrencyBytes,
} from "@causeway/families";
import type { AttestedOrder, RefundEntry } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { AttestedChain, AttestedChains } from "../ports/attested-chains.ts";
import { requireChain } from "./require-chain.ts";
import type { SignedOrder } from "./read-order.ts";
import type { SettledInput } from "./settled-inputs.ts";

/** The transaction claimed to refund an input; ids canonical, indexes checked. */
export interface ClaimedRefund {
  readonly transactionId: string;
  readonly inputIndex: number;
  readonly refundIndex: number;
  readonly attestedChain: AttestedChain;
  readonly option: AttestedOrder["inputs"][number]["refunds"][number];
  /** The same option with its addresses as bytes. */
  readonly bytes: OrderRefund;
}

/** What one transaction must have paid. */
export interface RefundPayment {
  readonly attestedChain: AttestedChain;
  readonly transactionId: string;
  /** The earliest deadline that applies. Unix seconds. */
  readonly deadline: number;
  readonly extraData: Hex;
  readonly receipts: readonly {
    readonly recipient: string;
    readonly currency: string;
    readonly minimum: bigint;
  }[];
  readonly inputIndexes: readonly number[];
}

/**
 * The claims in request order: one per input of the order, each naming one of the order's refund options.
 * @throws AttestationError invalid_request or not_found, ServiceError for an id that is not canonical
 */
export function readClaimedRefunds(
  chains: AttestedChains,
  { json, order }: SignedOrder,
  entries: readonly RefundEntry[],
): readonly ClaimedRefund[] {
  const claimed = entries.map((entry, index): ClaimedRefund => {
    const input = json.inputs[entry.inputIndex];
    if (input === undefined)
      throw invalid(`refunds[${index}].inputIndex`, `order has no input ${entry.inputIndex}`);
    const option = input.refunds[entry.refundIndex];
    const bytes = order.inputs[entry.inputIndex]?.refunds[entry.refundIndex];
    if (option === undefined || bytes === undefined)
      throw invalid(
        `refunds[${index}].refundIndex`,
        `order input ${entry.inputIndex} has no refund option ${entry.refundIndex}`,
      );
    const attestedChain = requireChain(chains, option.chainId, `refunds[${index}].refundIndex`);
    return {
      transactionId: canonicalTransactionId(
        attestedChain.chain.vmType,
        entry.transactionId,
        `refunds[${index}].transactionId`,
      ),
      inputIndex: entry.inputIndex,
      refundIndex: entry.refundIndex,
      attestedChain,
      option,
      bytes,
    };
  });
  if (new Set(claimed.map(({ inputIndex }) => inputIndex)).size < claimed.length)
    throw invalid("refunds", "refunds must name each input of the order only once");
  for (const index of json.inputs.keys())
    if (!claimed.some(({ inputIndex }) => inputIndex === index))
      throw invalid("refunds", `refunds has no entry for input ${index} of the order`);
  return claimed;
}

/**
 * What the transactions must have paid. Refunds in one transaction to one recipient in one currency are
 * summed, so that one transfer cannot refund two inputs.
 * @param inputs by index in the order
 * @param difference see `weightedDifference`
 * @throws AttestationError rejected if refunds of one transaction name different fill contracts: its
 * transfers could not be distinguished
 */
export function refundPayments(
  claimed: readonly ClaimedRefund[],
  inputs: readonly SettledInput[],
  difference: bigint,
): readonly RefundPayment[] {
  const payments = new Map<string, RefundPayment>();
  for (const claim of claimed.toSorted((a, b) => a.inputIndex - b.inputIndex)) {
    const { attestedChain, option, bytes, transactionId, inputIndex } = claim;
    const field = `refunds[${inputIndex}].transactionId`;
    const input = inputs[inputIndex];
    if (input === undefined) throw new TypeError("invariant violated: refund without an input");
    const vm = attestedChain.chain.vmType;
    const depositor = encodeAddress(input.chain.vmType, input.deposit.depositor, field);
    const demand = refundDemand(bytes, nativeCurrencyBytes(vm), depositor, difference);
    const recipient = decodeAddress(vm, demand.recipient, field);
    const { minimum } = demand;
    const key = `${attestedChain.chain.name}\n${transactionId}`;
    const payment = payments.get(key);
    if (payment !== undefined && payment.extraData !== option.extraData)
      throw rejected(field, "refunds in one transaction must have the same extraData");
    const isSameReceipt = (receipt: { recipient: string; currency: string }): boolean =>
      receipt.recipient === recipient && receipt.currency === option.currency;
    const receipts = payment?.receipts ?? [];
    payments.set(key, {
      attestedChain,
      transactionId,
      deadline: Math.min(payment?.deadline ?? option.deadline, option.deadline),
      extraData: option.extraData as Hex,
      receipts: receipts.some(isSameReceipt)
        ? receipts.map((receipt) =>
            isSameReceipt(receipt) ? { ...receipt, minimum: receipt.minimum + minimum } : receipt,
          )
        : [...receipts, { recipient, currency: option.currency, minimum }],
      inputIndexes: [...(payment?.inputIndexes ?? []), inputIndex],
    });
  }
  return [...payments.values()];
}
