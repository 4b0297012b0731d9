import type { Authorization } from "@causeway/chains";
import { unreachable } from "@causeway/domain";
import type { Address, DepositId, Hex, RequestId } from "@causeway/domain";

/** One payment or call that the service owes somebody: a nonce is given to one leg for good. */
export type Leg =
  | { readonly kind: "fill"; readonly requestId: RequestId }
  | { readonly kind: "refund"; readonly depositId: DepositId; readonly requestId: RequestId | undefined }
  /** A call sent for a user, paid by an app. */
  | { readonly kind: "execution"; readonly requestId: RequestId }
  /** What an app takes back of its balance; a claim is no request. */
  | { readonly kind: "claim"; readonly claimId: Hex; readonly requestId: undefined }
  /** Money moved from a deposit address into the depository, for a request. */
  | { readonly kind: "sweep"; readonly sweepId: string; readonly requestId: RequestId };
export type LegKind = Leg["kind"];

/** What pays a leg of this kind, and what the database knows it by. */
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
    default:
      return unreachable(leg);
  }
}

/** A call of ours, with the EIP-7702 authorizations that travel with it. */
export interface LaneCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly authorizationList?: readonly Authorization[] | undefined;
}
