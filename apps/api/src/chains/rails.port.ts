import type { Address, DepositId, Hex, OrderId, RequestId } from "@causeway/domain";
import type { RailArrivals } from "@causeway/chains";
import type { DepositRecord } from "../db/records.port.ts";

/** A deposit whose sender has not said yet which order it pays. */
export interface UnmappedDeposit {
  readonly deposit: DepositRecord;
  /** That its sender signed it with. */
  readonly nonce: bigint;
  /** Until when he may still say it; ms since epoch. */
  readonly untilMs: number;
}

/** What is remembered of chains that are reached by a rail, outside any transaction. */
export interface RailReads {
  /** Undefined: the chain was never read. */
  railCursor(chainId: number): Promise<string | undefined>;
  /** Those of which their senders have told us something, then the others; of each the oldest first. */
  unmappedDeposits(chainId: number, limit: number): Promise<UnmappedDeposit[]>;
}

/** The same inside one transaction. */
export interface RailWrites {
  /**
   * Until the end of the transaction nobody else records deposits of the chain; gives the cursor as it is
   * then.
   */
  lockCursor(chainId: number): Promise<string | undefined>;
  setCursor(chainId: number, cursor: string, upTo: RailArrivals["upTo"]): Promise<void>;
  /** Whether a deposit that its sender signed with a nonce is stored, whatever it is for. */
  isKnown(deposit: {
    readonly chainId: number;
    readonly txHash: Hex;
    readonly sender: Address;
    readonly nonce: bigint;
    readonly ordinal: number;
  }): Promise<boolean>;
  /**
   * Notes what a fresh deposit was signed with.
   *
   * @param untilMs its sender may still say what it is for; undefined: he has
   */
  noteNonce(id: DepositId, nonce: bigint, untilMs: number | undefined): Promise<void>;
  /** Locks a deposit if nothing is known of what it is for, and that is still waited for. */
  lockUnmapped(id: DepositId): Promise<DepositRecord | undefined>;
  /**
   * Its sender has said what it is for, or may not say it any more (no order then): nothing is waited for.
   */
  endWaiting(
    id: DepositId,
    named?: {
      readonly orderId: OrderId;
      readonly depositor: Address;
      readonly requestId: RequestId | undefined;
      readonly valueUsd: bigint;
    },
  ): Promise<void>;
  /** Hashes of what was signed for payments of the lane that are not settled, but for one of them. */
  unsettledAttempts(chainId: number, sender: Address, exceptSlotId: string): Promise<readonly Hex[]>;
  /** The chain knows an attempt by another id than could be told when it was made. */
  renameAttempt(slotId: string, n: number, txHash: Hex): Promise<void>;
}
