import type { Hex, Order, RequestAttestationFacts } from "@causeway/domain";

/** Which facts of a request are signed: `v1` includes the amount, `v2` the recipient's currency. */
export type AttestationLayout = "v1" | "v2";

/** The solver's two signatures of an order, 65 bytes each. */
export interface OrderSignatures {
  /** EIP-191 over the raw bytes of the order id: what oracles verify. */
  readonly personal: Hex;
  /** EIP-712 over the order. */
  readonly typed: Hex;
}

/**
 * Signs orders and attestations of requests as the solver, and nothing else: it receives their fields and
 * hashes them itself, so that it cannot be tricked into signing a payment or a withdrawal.
 */
export interface OrderSigner {
  /** @throws SignerUnavailable (retryable) */
  signOrder(order: Order): Promise<OrderSignatures>;
  /** The personal signature of the facts' hash, 65 bytes. @throws SignerUnavailable (retryable) */
  signRequest(layout: AttestationLayout, facts: RequestAttestationFacts): Promise<Hex>;
}
