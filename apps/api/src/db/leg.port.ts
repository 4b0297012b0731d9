import type { Authorization } from "@causeway/chains";
import { unreachable } from "@causeway/domain";
import type { Address, DepositId, Hex, RequestId } from "@causeway/domain";

/** One payment or call that the service owes. A nonce belongs to one leg for good. */
export type Leg =
  | { readonly kind: "fill"; readonly requestId: RequestId }
  | { readonly kind: "refund"; readonly depositId: DepositId; readonly requestId: RequestId | undefined }
  /** A call sent for a user, paid by an app. */
  | { readonly kind: "execution"; readonly requestId: RequestId }
  /** An app's withdrawal from its balance; it belongs to no request. */
  | { readonly kind: "claim"; readonly claimId: Hex; readonly requestId: undefined }
  /** The transfer from a deposit address into the depository, for a request. */
  | { readonly kind: "sweep"; readonly sweepId: string; readonly requestId: RequestId }
  /** A transaction that has the hub execute what oracles signed; it belongs to no request. */
  | { readonly kind: "hub"; readonly batchId: string; readonly requestId: undefined }
  /** A call of the allocator for a withdrawal from the hub. */
  | { readonly kind: "payout"; readonly callId: string; readonly requestId: undefined };
export type LegKind = Leg["kind"];

/** The id that a leg of this kind has in the database. */
export function legId(leg: Leg): string {
  switch (leg.kind) {
    case "fill":
    case "execution":
      return leg.requestId;
    case "refund":
      return leg.depositId;
    case "claim":
      return leg.claimId;
    case "sweep":
      return leg.sweepId;
    case "hub":
      return leg.batchId;
    case "payout":
      return leg.callId;
    default:
      return unreachable(leg);
  }
}

/** A call of the service, with the EIP-7702 authorizations sent with it. */
export interface LaneCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly authorizationList?: readonly Authorization[] | undefined;
}
