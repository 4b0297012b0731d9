import type { RequestId } from "@causeway/domain";
import type { Slot } from "../db/records.port.ts";

/** Gas of fills that reverted in a block, and how much of it the solver has paid itself. */
export interface FillBurnWrites {
  /**
   * Notes what a reverted fill burnt; again changes nothing.
   * @param usd with 18 decimals; undefined: the native token had no price
   * @returns how many fills of the request have reverted
   */
  note(
    slot: Pick<Slot, "id" | "chainId" | "gasUsed" | "effectiveGasPrice">,
    requestId: RequestId,
    usd: bigint | undefined,
    atMs: number,
  ): Promise<number>;
  /** What a sponsor was not charged for yet, USD with 18 decimals. */
  unchargedUsd(requestId: RequestId): Promise<bigint>;
  /** The sponsor was charged `paidUsd` of the `usedUsd` that it was not charged for before. */
  charged(requestId: RequestId, of: { readonly paidUsd: bigint; readonly usedUsd: bigint }): Promise<void>;
  /**
   * Locks until the transaction ends, so no other fill can be added. Call before locking a lane.
   * @returns the most gas that fills under way may burn at the solver's expense, USD with 18 decimals
   */
  lockUnderWay(): Promise<bigint>;
  noteUnderWay(slotId: string, usd: bigint): Promise<void>;
  /** A refund keeps `kept` of `burnt` of the deposit: only the rest was paid by the solver. */
  keep(requestId: RequestId, of: { readonly kept: bigint; readonly burnt: bigint }): Promise<void>;
}

export interface FillBurnReads {
  /**
   * What the sponsor of a request was charged for its reverted fills, wei of the destination's native token.
   */
  sponsoredBurnWei(requestId: RequestId): Promise<bigint>;
  /** What the solver has paid itself since then, wei of each chain's native token. */
  unpaidBurnsSince(sinceMs: number): Promise<{ chainId: number; wei: bigint }[]>;
}
