import type { ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { Attempt, RequestRecord, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { TransitionServices } from "../../requests/transition.ts";

export type LegServices = Pick<Services, "uow" | "chains" | "enginePolicy"> & TransitionServices;

/** The commit in which a slot moves. The leg's request, when it has one, is locked in it, then the slot. */
export interface LegContext {
  readonly services: LegServices;
  readonly tx: Tx;
  readonly slot: Slot;
  /** Undefined when the leg belongs to no request, or to one that is forgotten. */
  readonly record: RequestRecord | undefined;
}

/**
 * What becomes of whatever a slot was to pay, as its nonce goes its way. Each is called in the very commit
 * that moves the slot, and once per move.
 */
export interface LegHandler {
  /** The payment (not a no-op) is in a canonical block, whether it succeeded or reverted there. */
  mined(
    moment: LegContext,
    mined: { readonly attempt: Attempt; readonly receipt: ReceiptFact },
  ): Promise<void>;
  /** The block is gone, and the same bytes are sent again. `slot` still says how it was mined. */
  unmined(moment: LegContext, attempt: Attempt): Promise<void>;
  /** The payment succeeded in a block beyond reorgs. */
  final(moment: LegContext): Promise<void>;
  /**
   * The nonce is used up for good and did not pay: it reverted, or something else used it. Only now may the
   * leg go another way.
   */
  dead(moment: LegContext, reason: FailReason): Promise<void>;
}
