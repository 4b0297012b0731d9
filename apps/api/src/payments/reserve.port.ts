import type { RequestId } from "@causeway/domain";
import type { RequestRecord, Slot, SlotPlan } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";

/** A payment that needs a slot. */
export interface Wanted {
  readonly plan: SlotPlan;
  /** When its checks began, by `performance.now()`. Absent: they do not expire. */
  readonly checkedAtMs?: number;
}

/** A payment and its new slot. `request` is undefined if its leg has none, or a pruned one. */
export interface Taken<W extends Wanted> {
  readonly wanted: W;
  readonly slot: Slot;
  readonly request: RequestRecord | undefined;
}

/** A leg's own reason not to be paid now. */
export interface Refused {
  readonly kind: "refused";
}

/**
 * `moved`: another process pays it, or it is no longer due. `late`: its checks are too old. `short`: the
 * payer's balances do not cover it.
 */
export type Outcome<Refusal> =
  | { readonly kind: "reserved"; readonly slot: Slot }
  | { readonly kind: "moved" | "late" | "short" }
  | Refusal;

/** What legs of one kind add to the commit that reserves their slots. */
export interface LegKindToPay<W extends Wanted, Refusal extends Refused = never> {
  /**
   * Locks the rows of the legs, whose requests are locked, and takes what else they need. What it writes is
   * committed even if it refuses.
   * @returns a verdict for each, in order
   */
  due(
    tx: Tx,
    wanted: readonly W[],
    requests: ReadonlyMap<RequestId, RequestRecord>,
  ): Promise<ReadonlyArray<"due" | "moved" | Refusal>>;
  /** Writes what follows from the new slots. A refusal rolls the commit back. */
  taken?(tx: Tx, taken: ReadonlyArray<Taken<W>>): Promise<Refusal | undefined>;
}

/** Outcome of a payment whose leg refuses nothing; see {@link Outcome}. Only `sent` wrote something. */
export type Sent = "sent" | "moved" | "late" | "short";
