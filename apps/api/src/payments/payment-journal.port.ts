import type { Address, Hex } from "@causeway/domain";
import type { Attempt, Slot, SlotPlan } from "../db/records.port.ts";

/** A payment as it was when it was last signed, with everything that is needed to restore its rows. */
export interface JournalEntry {
  readonly plan: SlotPlan;
  readonly nonce: number;
  readonly attempts: readonly Attempt[];
  /** When its newest attempt was entered. */
  readonly atMs: number;
}

/** A payment, and its attempt that is about to be broadcast. */
export interface PaymentAttempt {
  readonly slot: Slot;
  readonly attempt: Attempt;
}

/**
 * Remembers the newest payments of each lane outside the database. A failover may lose their rows; the
 * journal then restores them.
 */
export interface PaymentJournal {
  /**
   * Enters payments before they are broadcast for the first time.
   * @throws FormerPrimary if a newer primary was seen; nothing may be broadcast. NonceConflict if the journal
   * has another payment for the nonce, or bytes that the payment lacks. An error of Redis: broadcast later
   */
  enter(sent: readonly PaymentAttempt[], atMs: number): Promise<void>;
  /**
   * The number above the highest nonce of the lane's entered payments; undefined: the journal knows none.
   * After this call, processes that are connected to a former primary can no longer enter payments. Read the
   * lane's row only after it: the row is then behind the mark only if rows were lost.
   * @throws FormerPrimary, an error of Redis
   */
  mark(chainId: number, sender: Address): Promise<number | undefined>;
  /**
   * Raises the mark of a lane, which the journal need not know yet. Never lowers it.
   * @throws FormerPrimary, an error of Redis
   */
  raise(chainId: number, sender: Address, mark: number): Promise<void>;
  /**
   * The nonces of which the journal has lost the payment or these bytes of it. Ignores nonces that are too
   * old for the journal, which keeps only the newest ones.
   * @throws FormerPrimary, an error of Redis
   */
  missing(
    chainId: number,
    sender: Address,
    sent: ReadonlyArray<{ readonly nonce: number; readonly raw: Hex }>,
  ): Promise<ReadonlySet<number>>;
  /** The newest payments of a lane, lowest nonce first. @throws an error of Redis */
  entries(chainId: number, sender: Address): Promise<readonly JournalEntry[]>;
}

/** The journal has another payment with this nonce, or other bytes of it: the database has lost them. */
export class NonceConflict extends Error {
  constructor(chainId: number, nonce: number) {
    super(`nonce ${nonce} on chain ${chainId} may belong to a payment that the database lost`);
    this.name = "NonceConflict";
  }
}
