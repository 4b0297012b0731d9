import type { ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { Attempt, RequestRecord, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { TransitionServices } from "../../requests/index.ts";

export type LegServices = Pick<Services, "uow" | "chains" | "enginePolicy"> & TransitionServices;

/** The commit in which a slot moves. The leg's request, if any, is locked in it, then the slot. */
export interface LegContext {
  readonly services: LegServices;
  readonly tx: Tx;
  readonly slot: Slot;
  /** Undefined if the leg has no request, or a pruned one. */
  readonly record: RequestRecord | undefined;
}

/**
 * Updates what a slot pays as its nonce progresses. Each function runs in the commit that moves the slot,
 * once per move.
 */
export interface LegHandler {
  /** The payment (not a no-op) is in a canonical block, whether it succeeded or reverted. */
  mined(
    moment: LegContext,
    mined: { readonly attempt: Attempt; readonly receipt: ReceiptFact },
  ): Promise<void>;
  /** The block was reorged out, and the same bytes are sent again. `slot` still has its mined state. */
  orphaned(moment: LegContext, attempt: Attempt): Promise<void>;
  /** The payment succeeded in a final block. */
  final(moment: LegContext): Promise<void>;
  /**
   * The nonce is used for good and did not pay: it reverted, or something else used it. Only now may the leg
   * be paid another way.
   */
  dead(moment: LegContext, reason: FailReason): Promise<void>;
}
