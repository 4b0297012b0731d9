import type { Address } from "@causeway/domain";

/** Whether a depository had used a request at a final block. */
export interface RequestState {
  readonly depository: Address;
  readonly isUsed: boolean;
  readonly blockNumber: bigint;
  /** Unix seconds of that block. */
  readonly timestamp: bigint;
}
