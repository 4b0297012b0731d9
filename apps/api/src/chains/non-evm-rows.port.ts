import type { Address, DepositId, Hex, OrderId, RequestId } from "@causeway/domain";
import type { NonEvmArrivals } from "@causeway/chains";
import type { DepositRecord } from "../db/records.port.ts";

/** A deposit whose sender has not stated yet which order it pays. */
export interface UnmappedDeposit {
  readonly deposit: DepositRecord;
  /** The nonce that its sender signed. */
  readonly nonce: bigint;
  /** Deadline for the mapping; ms since epoch. */
  readonly untilMs: number;
}

/** Stored facts about non-EVM chains, outside a transaction. */
export interface NonEvmReads {
  /** Undefined: the chain was never read. */
  nonEvmCursor(chainId: number): Promise<string | undefined>;
  /** Up to where several endpoints have read the chain. Undefined: one is enough. */
  nonEvmChecked(chainId: number): Promise<string | undefined>;
  /** Deposits with an authorization by their sender first, then the others; oldest first. */
  unmappedDeposits(chainId: number, limit: number): Promise<UnmappedDeposit[]>;
}

/** Writes inside one transaction. */
export interface NonEvmWrites {
  /**
   * Until the transaction ends, no other transaction records deposits of the chain. Returns the current
   * cursor; undefined if the chain was never read.
   */
  lockCursor(chainId: number): Promise<string | undefined>;
  /** @param checked up to where several endpoints have read; absent: one is enough */
  setCursor(chainId: number, cursor: string, upTo: NonEvmArrivals["upTo"], checked?: string): Promise<void>;
  /** Whether a deposit with this sender and nonce is stored, regardless of what it pays. */
  isKnown(deposit: {
    readonly chainId: number;
    readonly txHash: Hex;
    readonly sender: Address;
    readonly nonce: bigint;
    readonly ordinal: number;
  }): Promise<boolean>;
  /**
   * Stores the nonce that signed a new deposit.
   * @param untilMs deadline for the mapping; undefined: already mapped
   */
  noteNonce(id: DepositId, nonce: bigint, untilMs: number | undefined): Promise<void>;
  /** Locks a deposit that is not mapped yet and still waits for its mapping. */
  lockUnmapped(id: DepositId): Promise<DepositRecord | undefined>;
  /** Ends the wait for a mapping. Without `mapped`, its deadline passed, and the deposit has no order. */
  endWaiting(
    id: DepositId,
    mapped?: {
      readonly orderId: OrderId;
      readonly depositor: Address;
      readonly requestId: RequestId | undefined;
      readonly valueUsd: bigint;
    },
  ): Promise<void>;
  /** Hashes of unsettled attempts of the lane, except those of one slot. */
  unsettledAttempts(chainId: number, sender: Address, exceptSlotId: string): Promise<readonly Hex[]>;
}
