import type { OrderCall, SignedConsent } from "@causeway/domain";

/** Calls that a client wants to be made with the output. */
export interface AskedCalls {
  readonly calls: readonly OrderCall[];
  readonly authorizationList?: readonly SignedConsent[];
  /** Gas units that the client reserves for them; undefined: as many as they are seen to need. */
  readonly gasLimit: bigint | undefined;
  /** Gas units that the output pays for. */
  readonly gas: bigint;
}

/** What is known of a question's tokens. */
export interface TokensOfQuestion {
  /** The user's allowance must be set to zero before it is set to another amount. */
  readonly resetsApproval: boolean;
  /**
   * Whether the fill must be tried before it is promised: nobody can tell how its token behaves, or whether
   * the recipient takes it.
   */
  readonly isUnproven: boolean;
}
