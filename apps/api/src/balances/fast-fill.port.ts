import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { IdempotencyLease, StoredAnswer } from "../http/idempotency.port.ts";
import type { Address, LedgerAsset, RequestId, TxHash } from "@causeway/domain";

/** USD per whole unit, 18 decimals, when a fast fill was accepted; 0: not known. */
export interface AcceptedPrices {
  readonly originUsd: bigint;
  readonly destinationUsd: bigint;
  /** The destination's native token. */
  readonly nativeUsd: bigint;
}

/** What the deposit changes in the app's balance. `due`: it is there, and waits for a price. */
export type CoverState = "none" | "due" | "booked";

/** What was promised when an app vouched for a deposit, and what became of it. */
export interface FastFillRecord {
  readonly requestId: RequestId;
  readonly keyId: string;
  readonly wallet: Address;
  /** What the recipient gets: smallest units of the destination's currency. */
  readonly amount: bigint;
  /** What that was priced on: smallest units of the origin's currency, at most what was quoted. */
  readonly inputAmount: bigint;
  /**
   * What the deposit is expected to bring beyond `inputAmount`, and the asset in which the balance is
   * credited.
   */
  readonly surplus: { readonly asset: LedgerAsset; readonly amount: bigint };
  readonly prices: AcceptedPrices;
  /** How far prices may move against a deposit that comes while the quote is firm, bps. */
  readonly toleranceBps: number;
  /**
   * A deposit seen later goes back, because the network would not settle the fill against it; undefined:
   * nothing binds.
   */
  readonly depositUntilMs: number | undefined;
  readonly acceptedAtMs: number;
  /** Gas of the final fill, USD with 18 decimals. */
  readonly spentUsd: bigint;
  /** Worth of what was taken from the balance because the deposit had not come. */
  readonly debitedUsd: bigint;
  /** Gas of a fill that reverted in its block. */
  readonly burnt: { readonly slotId: string; readonly usd: bigint; readonly isCharged: boolean } | undefined;
  readonly coverState: CoverState;
  /** How often a deposit was booked. */
  readonly coverMoves: number;
}

export type NewFastFill = Omit<
  FastFillRecord,
  "spentUsd" | "debitedUsd" | "burnt" | "coverState" | "coverMoves"
>;

/** Fast fills inside one transaction, with the request locked. */
export interface FastFillWrites {
  add(fastFill: NewFastFill): Promise<void>;
  find(requestId: RequestId): Promise<FastFillRecord | undefined>;
  setCover(requestId: RequestId, state: CoverState, moves: number): Promise<void>;
  setSpent(requestId: RequestId, usd: bigint): Promise<void>;
  setDebited(requestId: RequestId, usd: bigint): Promise<void>;
  setBurnt(requestId: RequestId, slotId: string, usd: bigint, atMs: number): Promise<void>;
  setBurntCharged(requestId: RequestId): Promise<void>;
  /** These had their turn to be booked or debited: others come first next time. */
  noteTried(requestIds: readonly RequestId[], atMs: number): Promise<void>;
  /** USD with 18 decimals that reverted fast fills of a wallet have burnt since, final or not. */
  burntUsd(wallet: Address, sinceMs: number): Promise<bigint>;
  /** Remembers a transaction that was reported for a request before it was mined. */
  rememberOrigin(requestId: RequestId, txHash: TxHash, atMs: number): Promise<void>;
}

/** An app asks that a request be filled before its deposit is there, and vouches for the deposit. */
export interface FastFillWish {
  readonly key: ApiKeyIdentity;
  readonly requestId: RequestId;
  /** Smallest units of the input that the fill is priced on; undefined: what was quoted. */
  readonly inputAmount?: bigint | undefined;
  /** USD with 18 decimals that the fill may be worth at most. */
  readonly maxUsd?: bigint | undefined;
  /** The origin transaction, when the app knows it. */
  readonly txHash?: TxHash | undefined;
  /** Stored in the very commit that accepts, when the call carries an `Idempotency-Key`. */
  readonly finish?: { readonly lease: IdempotencyLease; readonly answer: StoredAnswer } | undefined;
}

/** `filled`: the recipient has the money already, nothing was done. */
export type FastFillOutcome = "queued" | "filled";
