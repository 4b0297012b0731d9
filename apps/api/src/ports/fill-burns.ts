import type { RequestId } from "@causeway/domain";
import type { Slot } from "./records.ts";

/** Gas of fills that reverted in a block, and how much of it the solver has paid itself. */
export interface FillBurnWrites {
  /** Notes what a reverted fill burnt; again changes nothing. @returns how many fills of the request have reverted */
  note(slot: Slot, requestId: RequestId, atMs: number): Promise<number>;
  /** A refund keeps `kept` of `burnt` of the deposit: only the rest was paid by the solver. */
  keep(requestId: RequestId, of: { readonly kept: bigint; readonly burnt: bigint }): Promise<void>;
}

export interface FillBurnReads {
  /** What the solver has paid itself since then, wei of each chain's native token. */
  unpaidBurnsSince(sinceMs: number): Promise<{ chainId: number; wei: bigint }[]>;
}
