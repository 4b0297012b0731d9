import type { Address, LedgerAsset, RequestId, TxHash } from "@causeway/domain";

/** What was promised when an app vouched for a deposit. Prices are those of that moment, for good. */
export interface FastFillRecord {
  readonly requestId: RequestId;
  readonly keyId: string;
  readonly wallet: Address;
  /** What the recipient gets: smallest units of the destination's currency. */
  readonly amount: bigint;
  /** What that was priced on: smallest units of the origin's currency, at most what was quoted. */
  readonly inputAmount: bigint;
  /** What the app's balance gets when the deposit is there, because that is worth more than `inputAmount`; an amount of 0: nothing. */
  readonly surplus: { readonly asset: LedgerAsset; readonly amount: bigint };
  /** The balance has it now. */
  readonly surplusCredited: boolean;
  /** How often it was given or taken back. */
  readonly surplusMoves: number;
  readonly acceptedAtMs: number;
}

export type NewFastFill = Omit<FastFillRecord, "surplusCredited" | "surplusMoves">;

/** Fast fills inside one transaction, with the request locked. */
export interface FastFillWrites {
  add(fastFill: NewFastFill): Promise<void>;
  find(requestId: RequestId): Promise<FastFillRecord | undefined>;
  setSurplus(requestId: RequestId, credited: boolean, moves: number): Promise<void>;
  /** Remembers a transaction that was reported for a request before it was mined. */
  rememberOrigin(requestId: RequestId, txHash: TxHash, atMs: number): Promise<void>;
}
