import type { Authorization } from "@causeway/chains";
import type { Address, Hex, RequestId } from "@causeway/domain";

/** One payment or call that the service owes. A nonce belongs to one leg permanently. */
export interface Leg {
  /** The name of its kind in the list of `payments/legs`. */
  readonly kind: string;
  /** Its id among the legs of this kind, such as the id of the request that is filled. */
  readonly id: string;
  /** The request that it belongs to, if any. */
  readonly requestId: RequestId | undefined;
}

/** A call of the service, with the EIP-7702 authorizations sent with it. */
export interface LaneCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly authorizationList?: readonly Authorization[] | undefined;
}
