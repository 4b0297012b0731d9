import type { FailReason, RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { DepositRecord } from "../db/records.port.ts";
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
