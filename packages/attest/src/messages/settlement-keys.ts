import type { AttestationHub, Hex32 } from "@causeway/domain";
import { deterministicId } from "./deterministic-id.ts";

/**
 * The facts that determine the idempotency key of a settlement. The hub runs one execution per idempotency
 * key, no matter who signs it or how often.
 */
export interface Settlement {
  readonly orderId: Hex32;
  /** On-chain ids of every deposit that the settlement moves; distinct. */
  readonly onchainIds: readonly Hex32[];
  /** The paying transaction, with its canonical id. */
  readonly payment: { readonly chain: string; readonly transactionId: string };
}

export type SettlementRule = AttestationHub["settlementKey"];

/**
 * Idempotency key of the mint for the deposits of one transaction, or for one part of them if they are too
 * many for one execution.
 * @param part 0 for the first part, which is nearly always the only one
 */
export function depositKey(chain: string, transactionId: string, part = 0): Hex32 {
  return deterministicId(part === 0 ? [chain, transactionId] : [chain, transactionId, part.toString()]);
}

/**
 * Idempotency key of a fill. By the rule `payment`, one paying transaction settles an order once; by
 * `deposits`, a set of deposits is settled once, so that one payment can settle several deposits of its
 * order.
 * @throws RangeError if an on-chain id is malformed or named twice
 */
export function fillKey(rule: SettlementRule, settlement: Settlement): Hex32 {
  const { orderId, payment } = settlement;
  return rule === "payment"
    ? deterministicId([orderId, payment.chain, payment.transactionId])
    : depositsKey(settlement);
}

/**
 * Idempotency key of a refund. With one input it equals the key of a fill by the same transaction, so that a
 * payment never counts as both; an order with several inputs is refunded once, by several payments.
 * @param inputs number of inputs of the order
 * @throws RangeError as `fillKey`
 */
export function refundKey(rule: SettlementRule, settlement: Settlement, inputs: number): Hex32 {
  return rule === "payment" && inputs > 1
    ? deterministicId([settlement.orderId, "refunds"])
    : fillKey(rule, settlement);
}

function depositsKey({ onchainIds, orderId }: Settlement): Hex32 {
  const ids = onchainIds.map((id) => id.toLowerCase());
  if (!ids.every((id) => /^0x[0-9a-f]{64}$/.test(id)))
    throw new RangeError("invariant violated: on-chain id is not 32 bytes");
  if (new Set(ids).size !== ids.length) throw new RangeError("invariant violated: duplicate on-chain id");
  // Texts of equal length and case sort like the numbers.
  return deterministicId([deterministicId(ids.toSorted()), orderId]);
}

/**
 * Idempotency key of a settled withdrawal's effect on the hub. It does not depend on the caller's transaction
 * id: otherwise one payout could be burned once per format of its id.
 */
export function withdrawalKey(withdrawalId: Hex32, outcome: "executed" | "expired"): Hex32 {
  return deterministicId(outcome === "executed" ? [withdrawalId] : [withdrawalId, "2"]);
}

/**
 * Idempotency key of the transfer that starts a withdrawal: a withdrawal address (it includes a nonce) is
 * funded once per token.
 */
export function initiationKey(settlementChain: string, hubTokenId: bigint, withdrawalAddress: string): Hex32 {
  return deterministicId([settlementChain, hubTokenId.toString(), withdrawalAddress]);
}
