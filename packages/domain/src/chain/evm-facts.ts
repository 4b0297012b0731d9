import type { Address } from "../ids/hex.ts";

/** When a block of an EVM chain counts as irreversible. */
export type EvmFinality =
  /** At or below the block that the node tags `finalized`. */
  | { readonly kind: "tag" }
  /**
   * This many blocks are on top of it (0 = the newest block itself), and the newest block is this many
   * seconds younger.
   */
  | { readonly kind: "depth"; readonly blocks: bigint; readonly seconds: bigint };

/** The oracle's facts about EVM chains only. */
export interface EvmAttestationFacts {
  /** The expected answer to `eth_chainId`. */
  readonly chainId: number;
  readonly finality: EvmFinality;
  /** Nominal seconds between blocks, for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Contracts whose events may prove payments and calls of a solver. An order's `extraData` must name one of
   * them.
   */
  readonly fillContracts: readonly Address[];
  /** The chain emits moves of its native token as Transfers of the contract `0x…800a`. */
  readonly isZksyncStack: boolean;
}
