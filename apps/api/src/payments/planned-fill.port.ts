import type { RequestId } from "@causeway/domain";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { DepositRecord, RequestRecord, SlotPlan } from "../db/records.port.ts";

/** The basis of a fill; `sinceMs` is when it became available (ms since the epoch). */
export type FillBasis =
  /** A confirmed deposit; `sinceMs` is when it was seen. */
  | { readonly kind: "deposit"; readonly deposit: DepositRecord; readonly sinceMs: number }
  /** A fast fill: pays the promised amount, whether or not the deposit has arrived. */
  | { readonly kind: "fastFill"; readonly fastFill: FastFillRecord; readonly sinceMs: number };

export interface PlannedFill {
  readonly basis: FillBasis;
  readonly plan: SlotPlan;
  readonly amount: bigint;
  /** The sponsor's payment, in USD with 18 decimals. */
  readonly sponsoredUsd: bigint;
  /** Native tokens paid as a gas top-up, in USD with 18 decimals. */
  readonly topupUsd: bigint;
  /** Gas of reverted fills that the solver paid itself, and what this fill may add. USD with 18 decimals. */
  readonly burn: { readonly spentUsd: bigint; readonly uncoveredUsd: bigint };
  /** The fill may be reserved and sent together with others. Absent: it is sent separately. */
  readonly sharesCommits?: true;
}

/** A fill that was planned before its request was committed. */
export interface FillAhead {
  /** The request as the transaction would leave it. */
  readonly request: RequestRecord;
  readonly planned: PlannedFill;
  /** When the checks of the fill began, by `performance.now()`. */
  readonly checkedAtMs: number;
}

/** Fills that this process plans while it commits their deposits. A job without one plans its fill itself. */
export interface FillsAhead {
  /**
   * A plan in progress for the same deposit, begun before the deposit was stored, becomes the plan for
   * `basis`.
   * @param plan undefined: the job must decide
   */
  begin(request: RequestRecord, plan: () => Promise<PlannedFill | undefined>, basis?: FillBasis): void;
  /** Returns a plan at most once, and waits for a plan in progress. Undefined: none, or too old. */
  take(requestId: RequestId): Promise<FillAhead | undefined>;
}

/**
 * Begins to plan the fill of a request that a transaction is about to make fillable by this deposit, which is
 * stored or has the id NOT_STORED. Nothing waits for it. The transaction may still be rolled back: at most,
 * planning stores what used a nonce of a former key.
 */
export type PlanAhead = (request: RequestRecord, deposit: DepositRecord) => void;
