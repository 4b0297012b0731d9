import type { Order } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";
import type { ClaimedRefund, RefundPayment } from "./refund-plan.ts";
import type { SettledInput } from "./settled-inputs.ts";

// A payment settles only once. If dust counted, anyone could deposit dust for the same order and have the
// payment attested for the dust, leaving the solver without credit for the real deposit.
// Each input is checked alone: in a sum, a large deposit for one input could make up for dust in another
// (ADR 9).

/**
 * Requires deposits of at least the requested amount in every input.
 * @param inputs by index in the order
 * @throws AttestationError rejected
 */
export function assertDepositedInFull(order: Order, inputs: readonly SettledInput[]): void {
  for (const [index, { deposit }] of inputs.entries())
    if (!isDepositedInFull(order, inputs, index))
      throw rejected(
        "inputs",
        `the deposit for order input ${index} must be at least ${order.inputs[index]?.payment.amount}, got ${deposit.amount}: a smaller one must be refunded, not filled`,
      );
}

/**
 * Refunds must not exceed deposits, summed per currency and chain. If an input was deposited in another
 * currency, amounts are not comparable; then every input must have been deposited in full.
 * @param paid the received amounts: by index of the payment, then of its receipt
 * @param inputs by index in the order
 * @throws AttestationError rejected
 */
export function assertRefundsWithinDeposits(
  order: Order,
  refunds: readonly ClaimedRefund[],
  payments: readonly RefundPayment[],
  paid: readonly (readonly bigint[])[],
  inputs: readonly SettledInput[],
): void {
  const paidByAsset = new Map<string, bigint>();
  for (const [i, { attestedChain, receipts }] of payments.entries())
    for (const [j, { currency }] of receipts.entries()) {
      const asset = assetOf(attestedChain.chain.name, currency);
      paidByAsset.set(asset, (paidByAsset.get(asset) ?? 0n) + (paid[i]?.[j] ?? 0n));
    }
  for (const [asset, sum] of paidByAsset) {
    const refunded = refunds
      .filter(({ attestedChain, option }) => assetOf(attestedChain.chain.name, option.currency) === asset)
      .map(({ inputIndex }) => inputIndex);
    const isSameAsset = refunded.every((index) => assetOfInput(inputs[index]) === asset);
    const deposited = refunded.reduce((total, index) => total + (inputs[index]?.deposit.amount ?? 0n), 0n);
    if (isSameAsset && sum > deposited)
      throw rejected("refunds", `refunds must not exceed the deposited amount ${deposited}, got ${sum}`);
    if (!isSameAsset && !refunded.every((index) => isDepositedInFull(order, inputs, index)))
      throw rejected(
        "refunds",
        "refunds in a currency other than that of the deposits require that the order's inputs were deposited in full",
      );
  }
}

function isDepositedInFull(order: Order, inputs: readonly SettledInput[], index: number): boolean {
  const requested = order.inputs[index]?.payment.amount;
  const deposited = inputs[index]?.deposit.amount;
  return requested !== undefined && deposited !== undefined && deposited >= requested;
}

function assetOfInput(input: SettledInput | undefined): string | undefined {
  return input && assetOf(input.chain.name, input.deposit.currency);
}

function assetOf(chain: string, currency: string): string {
  return `${chain}\n${currency}`;
}
