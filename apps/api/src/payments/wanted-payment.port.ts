import type { Slot, SlotPlan } from "../db/records.port.ts";
import type { Rule } from "./policy/limits.port.ts";

/** A payment that needs a slot. */
export interface WantedPayment {
  readonly plan: SlotPlan;
  /** When the checks of the payment began, by `performance.now()`. Absent: they do not expire. */
  readonly checkedAtMs?: number;
}

/** The policy does not allow a payment now. It is tried again until it does, or the leg is no longer due. */
export interface HeldPayment {
  readonly kind: "held";
  readonly rule: Rule;
  readonly why: string;
}

/** A leg's own reason not to be paid now. */
export interface Refused {
  readonly kind: "refused";
  readonly why: string;
}

/**
 * The outcome of reserving a slot. `moved`: another process pays it, or it is no longer due. `late`: its
 * checks are too old. `insufficientFunds`: the payer's balances do not cover it.
 */
export type ReservationOutcome =
  | { readonly kind: "reserved"; readonly slot: Slot }
  | { readonly kind: "moved" | "late" | "insufficientFunds" }
  | HeldPayment
  | Refused;

/** Whether a payment was sent; see {@link ReservationOutcome}. Only `sent` wrote something. */
export type PaymentOutcome = "sent" | "moved" | "late" | "insufficientFunds" | HeldPayment | Refused;

/**
 * Reserves a slot for a payment and sends it, together with others of the same moment.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds the committed bytes and sends
 * them
 */
export type PayTogether = (wanted: WantedPayment) => Promise<PaymentOutcome>;
