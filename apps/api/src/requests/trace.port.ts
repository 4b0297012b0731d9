import type { Address, FailReason, Hex, RequestEvent, RequestId, StateName, TxHash } from "@causeway/domain";
import type { Facts } from "../db/events.port.ts";

interface StateChange {
  readonly from: StateName;
  readonly to: StateName;
}

interface RefundPlanned {
  readonly depositId: string;
  /** Base units of the deposit's currency. */
  readonly amount: bigint;
  readonly gasFee: bigint;
  readonly nonce: number;
}

/** The events whose details are more than a change of state. Amounts are in base units. */
export interface OtherDetails {
  readonly attested: {
    readonly leg: "fill" | "refund";
    readonly txHash: TxHash;
    readonly depositKey: Hex;
    readonly paymentKey: Hex;
  };
  readonly settled: Readonly<Record<string, never>>;
  readonly nonce_authorized: { readonly nonce: bigint };
  /** A different amount or currency than quoted arrived at a deposit address. */
  readonly fundsFound: {
    readonly depositAddress: Address;
    readonly chainId: number;
    readonly currency: Address;
    readonly found: bigint;
    readonly amount: bigint;
    readonly excess: bigint;
    /** The request that first got the address. Absent: this request was the first. */
    readonly first?: RequestId;
  };
  /** The policy does not allow a payment now. */
  readonly paymentHeld: { readonly leg: string; readonly rule: string; readonly why: string };
  readonly sweepPlanned: { readonly nonce: number };
  readonly sweepVoid: { readonly reason: string };
  readonly executionPlanned: { readonly nonce: number };
  readonly executionImpossible: Facts & { readonly reason: FailReason };
  readonly refundPlanned: RefundPlanned;
  readonly refundReleased: Partial<StateChange> & {
    readonly depositId: string;
    readonly chainId: number;
    readonly currency: Address;
    readonly amount: bigint;
    readonly recipient: Address;
    readonly why: string;
  };
}

/** The detail of each event in a trace. */
export type TraceDetails = OtherDetails &
  Readonly<Record<Exclude<RequestEvent["kind"], keyof OtherDetails>, StateChange & Facts>>;
export type TraceEvent = keyof TraceDetails;
