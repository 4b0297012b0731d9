import type { Order } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";
import type { ClaimedRefund, RefundPayment } from "./refund-plan.ts";
import type { SettledInput } from "./settled-inputs.ts";

// A payment settles once, so it must settle something worth it: else anybody could make a deposit of dust for
// the same order, have the payment attested for that, and leave the solver without its key for the real
// deposit. Input by input: a sum over inputs would let much of one pay for dust of another. See ADR 9.

/**
 * A fill is worth deposits of at least what the order asks for, in every input.
 * @param inputs by position in the order. @throws AttestationError rejected.
 */
export function mustBeWorthFilling(order: Order, inputs: readonly SettledInput[]): void {
  for (const at of inputs.keys())
    if (!isWhole(order, inputs, at))
      throw rejected(
        "inputs",
        "deposits are less than the order requires; they must be refunded, not filled",
      );
}

/**
 * A refund is worth no less than it gave: all that was paid in a currency of a chain, by all transactions to
 * all recipients, is at most what the inputs that it gives back deposited there. Where one of those was
 * deposited in another currency the amounts say nothing about each other: then each of them must have been of
 * all that the order asks for.
 * @param paid what arrived, for every payment one figure per wanted receipt. @param inputs by position in the
 * order. @throws AttestationError rejected.
 */
export function mustBeWorthRefunding(
  order: Order,
  refunds: readonly ClaimedRefund[],
  payments: readonly RefundPayment[],
  paid: readonly (readonly bigint[])[],
  inputs: readonly SettledInput[],
): void {
  const given = new Map<string, bigint>();
  for (const [i, { chain, wanted }] of payments.entries())
    for (const [j, { currency }] of wanted.entries()) {
      const asset = assetOf(chain.chain.name, currency);
      given.set(asset, (given.get(asset) ?? 0n) + (paid[i]?.[j] ?? 0n));
    }
  for (const [asset, sum] of given) {
    const refunded = refunds
      .filter(({ chain, option }) => assetOf(chain.chain.name, option.currency) === asset)
      .map(({ inputIndex }) => inputIndex);
    const isSame = refunded.every((at) => assetOfInput(inputs[at]) === asset);
    const deposited = refunded.reduce((total, at) => total + (inputs[at]?.deposit.amount ?? 0n), 0n);
    if (isSame ? sum > deposited : !refunded.every((at) => isWhole(order, inputs, at)))
      throw rejected(
        "refunds",
        "refund exceeds the deposited amount, so it is not the refund of this deposit",
      );
  }
}

function isWhole(order: Order, inputs: readonly SettledInput[], at: number): boolean {
  const asked = order.inputs[at]?.payment.amount;
  const deposited = inputs[at]?.deposit.amount;
  return asked !== undefined && deposited !== undefined && deposited >= asked;
}

function assetOfInput(input: SettledInput | undefined): string | undefined {
  return input && assetOf(input.chain.name, input.deposit.currency);
}

function assetOf(chain: string, currency: string): string {
  return `${chain}\n${currency}`;
}
