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
import { knownChain } from "./known-chain.ts";
import type { SignedOrder } from "./read-order.ts";
import type { SettledInput } from "./settled-inputs.ts";

/** The transaction claimed to refund an input; ids canonical, indexes checked. */
export interface ClaimedRefund {
  readonly transactionId: string;
  readonly inputIndex: number;
  readonly refundIndex: number;
  readonly chain: AttestedChain;
  readonly option: AttestedOrder["inputs"][number]["refunds"][number];
  /** The same option with its addresses as bytes. */
  readonly bytes: OrderRefund;
}

/** What one transaction must have paid. */
export interface RefundPayment {
  readonly chain: AttestedChain;
  readonly transactionId: string;
  /** The earliest deadline that applies. Unix seconds. */
  readonly deadline: number;
  readonly extraData: Hex;
  readonly wanted: readonly {
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
  const claimed = entries.map((entry, at): ClaimedRefund => {
    const input = json.inputs[entry.inputIndex];
    if (input === undefined)
      throw invalid(`refunds[${at}].inputIndex`, `order has no input ${entry.inputIndex}`);
    const option = input.refunds[entry.refundIndex];
    const bytes = order.inputs[entry.inputIndex]?.refunds[entry.refundIndex];
    if (option === undefined || bytes === undefined)
      throw invalid(
        `refunds[${at}].refundIndex`,
        `order input ${entry.inputIndex} has no refund option ${entry.refundIndex}`,
      );
    const chain = knownChain(chains, option.chainId, `refunds[${at}].refundIndex`);
    return {
      transactionId: canonicalTransactionId(
        chain.chain.vmType,
        entry.transactionId,
        `refunds[${at}].transactionId`,
      ),
      inputIndex: entry.inputIndex,
      refundIndex: entry.refundIndex,
      chain,
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
    const { chain, option, bytes, transactionId, inputIndex } = claim;
    const field = `refunds[${inputIndex}].transactionId`;
    const input = inputs[inputIndex];
    if (input === undefined) throw new TypeError("invariant violated: refund without an input");
    const vm = chain.chain.vmType;
    const depositor = encodeAddress(input.chain.vmType, input.deposit.depositor, field);
    const demand = refundDemand(bytes, nativeCurrencyBytes(vm), depositor, difference);
    const recipient = decodeAddress(vm, demand.recipient, field);
    const { minimum } = demand;
    const key = `${chain.chain.name}\n${transactionId}`;
    const before = payments.get(key);
    if (before !== undefined && before.extraData !== option.extraData)
      throw rejected(field, "refunds in one transaction must have the same extraData");
    const same = (one: { recipient: string; currency: string }): boolean =>
      one.recipient === recipient && one.currency === option.currency;
    const wanted = before?.wanted ?? [];
    payments.set(key, {
      chain,
      transactionId,
      deadline: Math.min(before?.deadline ?? option.deadline, option.deadline),
      extraData: option.extraData as Hex,
      wanted: wanted.some(same)
        ? wanted.map((one) => (same(one) ? { ...one, minimum: one.minimum + minimum } : one))
        : [...wanted, { recipient, currency: option.currency, minimum }],
      inputIndexes: [...(before?.inputIndexes ?? []), inputIndex],
    });
  }
  return [...payments.values()];
}
