import type { OrderCall, SignedAuthorization } from "@causeway/domain";

/** Calls that a client wants the fill to make with the output. */
export interface RequestedCalls {
  readonly calls: readonly OrderCall[];
  readonly authorizationList?: readonly SignedAuthorization[];
  /** Gas units that the client reserves for the calls. Absent: the gas that a dry run uses. */
  readonly gasLimit: bigint | undefined;
  /** Gas units that the output pays for. */
  readonly gas: bigint;
}

/** Facts from the chains about a quote's tokens. */
export interface TokenFacts {
  /** The user's allowance must be set to zero before it is set to another amount. */
  readonly resetsApproval: boolean;
  /** The fill needs a dry run, because the behavior of its token or recipient is unknown. */
  readonly isUnproven: boolean;
}
