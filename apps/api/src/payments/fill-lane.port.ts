import type { FailReason, RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { DepositRecord, SlotPlan } from "../db/records.port.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { Refused, Sent, Wanted } from "./reserve.port.ts";

/** What a fill is based on; `sinceMs` is when it became available (ms since the epoch). */
export type FillBasis =
  /** A confirmed deposit; `sinceMs` is when it was seen. */
  | { readonly kind: "deposit"; readonly deposit: DepositRecord; readonly sinceMs: number }
  /** A fast fill: pays the promised amount, whether or not the deposit has arrived. */
  | { readonly kind: "front"; readonly promised: FastFillRecord; readonly sinceMs: number };

/** A simulated fill. */
export interface FillPlan extends Wanted {
  readonly requestId: RequestId;
  readonly basis: FillBasis;
  /** What the recipient gets, in base units. */
  readonly amount: bigint;
}

/** The lane that pays a fill. */
export interface FillLane {
  readonly chain: { readonly name: string };
  readonly funds: LaneFunds;
  /** Sends a fill that reserves nothing but a nonce, together with others. Absent: each is sent alone. */
  readonly sendTogether?: ((fill: FillPlan) => Promise<Sent>) | undefined;
}

export interface PlannedFill {
  readonly basis: FillBasis;
  readonly lane: FillLane;
  readonly plan: SlotPlan;
  readonly amount: bigint;
  /** What a sponsor pays, in USD with 18 decimals. */
  readonly sponsoredUsd: bigint;
  /** Native tokens paid as a gas top-up, in USD with 18 decimals. */
  readonly topupUsd: bigint;
  /** Gas of reverted fills that the solver paid itself, and what this fill may add. USD with 18 decimals. */
  readonly burn: { readonly spentUsd: bigint; readonly uncoveredUsd: bigint };
}

/** A fill that is not made now, or never. */
export interface RefusedFill extends Refused {
  readonly why: string;
  readonly reason: FailReason;
  readonly isFinal?: true;
}

/**
 * Reserves a nonce for a simulated fill that reserves nothing else: no fast fill, no sponsorship, no limit of
 * the operator. Then sends it.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds what was committed and sends it
 */
export type SendFill = (connected: ConnectedChain, fill: FillPlan) => Promise<Sent>;
