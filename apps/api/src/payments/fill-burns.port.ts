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
  /** Records that the sponsor paid `paidUsd` of the uncharged cost `usedUsd`. The solver pays the rest. */
  noteCharged(
    requestId: RequestId,
    amounts: { readonly paidUsd: bigint; readonly usedUsd: bigint },
  ): Promise<void>;
  /**
   * Locks the fills in progress until the transaction ends, so none can be added. Call before locking a lane.
   * @returns the maximum gas that fills in progress may use at the solver's expense, in USD with 18 decimals
   */
  lockInProgress(): Promise<bigint>;
  /** Records the maximum gas of a new fill that a revert would cost the solver, USD with 18 decimals. */
  noteInProgress(slotId: string, usd: bigint): Promise<void>;
  /**
   * Records that others than the solver, such as the deposit of a refund, paid `paidByOthers` of the cost
   * `revertedGas`. Both are in the same unit.
   */
  notePaidByOthers(
    requestId: RequestId,
    amounts: { readonly paidByOthers: bigint; readonly revertedGas: bigint },
  ): Promise<void>;
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
