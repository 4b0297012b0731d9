import type { RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { DepositRecord, SlotPlan } from "../db/records.port.ts";

/** A confirmed deposit; `sinceMs` is when it was seen (ms since the epoch). */
export interface DepositBasis {
  readonly kind: "deposit";
  readonly deposit: DepositRecord;
  readonly sinceMs: number;
}

/** What a fill is based on; `sinceMs` is when it became available (ms since the epoch). */
export type FillBasis =
  | DepositBasis
  /** A fast fill: pays the promised amount, whether or not the deposit has arrived. */
  | { readonly kind: "front"; readonly promised: FastFillRecord; readonly sinceMs: number };

/**
 * `moved`: another process handles it, or it is no longer needed. `short`: the solver's balances do not cover
 * it. `late`: its checks are too old. Nothing was written for the last two.
 */
export type FillSent = "sent" | "moved" | "short" | "late";

/**
 * A simulated fill that reserves nothing but a nonce: no fast fill, no sponsorship, no limit of the operator.
 */
export interface FillPlan {
  readonly requestId: RequestId;
  readonly basis: DepositBasis;
  readonly plan: SlotPlan;
  /** When its checks began, by `performance.now()`. */
  readonly checkedAtMs: number;
  /** What the recipient gets, in base units. */
  readonly amount: bigint;
}

/**
 * Reserves a nonce for a simulated fill and sends it.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds what was committed and sends it
 */
export type SendFill = (connected: ConnectedChain, fill: FillPlan) => Promise<FillSent>;
