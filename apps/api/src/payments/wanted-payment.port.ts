import type { Slot, SlotPlan } from "../db/records.port.ts";
import type { Rule } from "./policy/limits.port.ts";

/** A payment that needs a slot. */
export interface WantedPayment {
  readonly plan: SlotPlan;
  /** When its checks began, by `performance.now()`. Absent: they do not expire. */
  readonly checkedAtMs?: number;
}

/** The policy does not allow a payment now. It is tried again until it does, or the leg is no longer due. */
export interface Held {
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
 * `moved`: another process pays it, or it is no longer due. `late`: its checks are too old. `short`: the
 * payer's balances do not cover it.
 */
export type Outcome =
  | { readonly kind: "reserved"; readonly slot: Slot }
  | { readonly kind: "moved" | "late" | "short" }
  | Held
  | Refused;

/** Whether a payment was sent; see {@link Outcome}. Only `sent` wrote something. */
export type Sent = "sent" | "moved" | "late" | "short" | Held | Refused;

/**
 * Reserves a slot for a payment and sends it, together with others of the same moment.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds the committed bytes and sends
 * them
 */
export type PayTogether = (wanted: WantedPayment) => Promise<Sent>;
