import type { LaneCall, Leg } from "../db/leg.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { PaymentOutcome, WantedPayment } from "./wanted-payment.port.ts";

/** A call and its payload. */
export interface WantedCall extends WantedPayment {
  /** Locks the payload. False: it is no longer due. Absent: the call has no payload. */
  readonly lock?: (tx: Tx) => Promise<boolean>;
  /** Assigns the payload to this slot. */
  readonly assign?: (tx: Tx, slotId: string) => Promise<void>;
}

export interface ContractCall extends Pick<WantedCall, "lock" | "assign"> {
  readonly leg: Leg;
  readonly call: Pick<LaneCall, "to" | "data">;
  readonly gasLimit: bigint;
}

/** `waits`: the lane must not plan anything now. */
export type CallOutcome = PaymentOutcome | { readonly kind: "waits"; readonly why: string };
