import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { IdempotencyLease, StoredAnswer } from "../http/idempotency.port.ts";
import type { Address, LedgerAsset, RequestId, TxHash } from "@causeway/domain";

/** Prices when a fast fill was accepted, USD per whole unit with 18 decimals. 0: unknown. */
export interface AcceptedPrices {
  readonly originUsd: bigint;
  readonly destinationUsd: bigint;
  readonly nativeUsd: bigint;
}

/**
 * Whether the deposit's effect on the app's balance is booked. `due`: the deposit arrived, but a price is
 * missing.
 */
export type CoverState = "none" | "due" | "booked";

/** The terms of an accepted fast fill, and its outcome. */
export interface FastFillRecord {
  readonly requestId: RequestId;
  readonly keyId: string;
  readonly wallet: Address;
  /** The amount that the recipient gets, base units of the destination currency. */
  readonly amount: bigint;
  /** The input that the fill was priced on, base units of the origin currency. At most the quoted input. */
  readonly inputAmount: bigint;
  /**
   * The part of the expected deposit above `inputAmount`, and the asset in which it is credited to the
   * balance.
   */
  readonly surplus: { readonly asset: LedgerAsset; readonly amount: bigint };
  readonly prices: AcceptedPrices;
  /** How much value a deposit that arrives while the quote is firm may lose by price moves, bps. */
  readonly toleranceBps: number;
  /**
   * Deposits first seen after this time are refunded, because the network would not settle the fill against
   * them. Undefined: no limit.
   */
  readonly depositUntilMs: number | undefined;
  readonly acceptedAtMs: number;
  /** Gas of the final fill, USD with 18 decimals. */
  readonly spentUsd: bigint;
  /** Value debited from the balance because the deposit had not arrived, USD with 18 decimals. */
  readonly debitedUsd: bigint;
  /** Gas of a fill that reverted in a block. Undefined: no fill reverted. */
  readonly revertedGas:
    | { readonly slotId: string; readonly usd: bigint; readonly isCharged: boolean }
    | undefined;
  readonly coverState: CoverState;
  /** How many times a deposit was booked. */
  readonly coverMoves: number;
}

export type NewFastFill = Omit<
  FastFillRecord,
  "spentUsd" | "debitedUsd" | "revertedGas" | "coverState" | "coverMoves"
>;

/** Fast fills inside one transaction, with the request locked. */
export interface FastFillWrites {
  add(fastFill: NewFastFill): Promise<void>;
  find(requestId: RequestId): Promise<FastFillRecord | undefined>;
  setCover(requestId: RequestId, state: CoverState, moves: number): Promise<void>;
  setSpent(requestId: RequestId, usd: bigint): Promise<void>;
  setDebited(requestId: RequestId, usd: bigint): Promise<void>;
  setRevertedGas(requestId: RequestId, slotId: string, usd: bigint, atMs: number): Promise<void>;
  setRevertedGasCharged(requestId: RequestId): Promise<void>;
  /** Moves these requests to the end of the queue for booking or debiting. */
  noteTried(requestIds: readonly RequestId[], atMs: number): Promise<void>;
  /**
   * Gas that reverted fast fills of a wallet have used since `sinceMs`, final or not; USD with 18 decimals.
   */
  revertedGasUsd(wallet: Address, sinceMs: number): Promise<bigint>;
  /** Stores a transaction that was reported for a request before it was mined. */
  rememberOrigin(requestId: RequestId, txHash: TxHash, atMs: number): Promise<void>;
}

/** An app's request to fill before the deposit arrives. The app guarantees the deposit. */
export interface FastFillRequest {
  readonly key: ApiKeyIdentity;
  readonly requestId: RequestId;
  /** The input that the fill is priced on, base units. Undefined: the quoted input. */
  readonly inputAmount?: bigint | undefined;
  /** Maximum value of the fill, USD with 18 decimals. */
  readonly maxUsd?: bigint | undefined;
  /** The origin transaction as its chain writes it, if the app knows it. */
  readonly txHash?: string | undefined;
  /** Stored in the commit that accepts the fast fill, if the call has an `Idempotency-Key`. */
  readonly finish?: { readonly lease: IdempotencyLease; readonly answer: StoredAnswer } | undefined;
}

/** `filled`: the recipient was already paid, and nothing was changed. */
export type FastFillOutcome = "queued" | "filled";
