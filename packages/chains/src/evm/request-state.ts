import type { Address } from "@causeway/domain";

/** Whether a depository had executed a withdrawal's call request, as of a final block. */
export interface RequestState {
  readonly depository: Address;
  readonly isUsed: boolean;
  readonly blockNumber: bigint;
  /** Unix seconds of that block. */
  readonly timestamp: bigint;
}
