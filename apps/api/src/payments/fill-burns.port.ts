import type { RequestId } from "@causeway/domain";
import type { Slot } from "../db/records.port.ts";

/** Gas of reverted fills, and how much of it the solver paid itself. */
export interface FillBurnWrites {
  /**
   * Records the gas of a reverted fill; idempotent.
   * @param usd with 18 decimals; undefined: the native token had no price
   * @returns how many fills of the request have reverted
   */
  note(
    slot: Pick<Slot, "id" | "chainId" | "gasUsed" | "effectiveGasPrice">,
    requestId: RequestId,
    usd: bigint | undefined,
    atMs: number,
  ): Promise<number>;
  /** The cost that a sponsor has not been charged for yet, in USD with 18 decimals. */
  unchargedUsd(requestId: RequestId): Promise<bigint>;
  /** The sponsor was charged `paidUsd` for an uncharged cost of `usedUsd`. The solver pays the rest. */
  charged(requestId: RequestId, of: { readonly paidUsd: bigint; readonly usedUsd: bigint }): Promise<void>;
  /**
   * Locks until the transaction ends, so no other fill can be added. Call before locking a lane.
   * @returns the maximum gas that fills in progress may use at the solver's expense, in USD with 18 decimals
   */
  lockUnderWay(): Promise<bigint>;
  noteUnderWay(slotId: string, usd: bigint): Promise<void>;
  /** Others than the solver paid `kept` of the cost `revertedGas`, such as the deposit of a refund. */
  keep(requestId: RequestId, of: { readonly kept: bigint; readonly revertedGas: bigint }): Promise<void>;
}

export interface FillBurnReads {
  /**
   * The amount that the sponsor of a request was charged for its reverted fills, in wei of the destination's
   * native token.
   */
  sponsoredBurnWei(requestId: RequestId): Promise<bigint>;
  /** The amount that the solver has paid itself since `sinceMs`, in wei of each chain's native token. */
  unpaidBurnsSince(sinceMs: number): Promise<{ chainId: number; wei: bigint }[]>;
}
