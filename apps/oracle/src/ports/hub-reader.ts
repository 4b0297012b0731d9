import type { FinalHead } from "@causeway/chains";
import type { Address, Hex32 } from "@causeway/domain";

/**
 * What the oracle asks of the hub: always at a block that is final by the hub's policy.
 *
 * @throws RpcFault when the hub's node cannot say.
 */
export interface HubReader {
  /** Smallest units of a hub token that an account holds. */
  balanceOf(account: Address, tokenId: bigint): Promise<bigint>;
  /** The newest final block of the hub. */
  newestFinal(): Promise<FinalHead>;
  /**
   * Whether the hub's OracleMultisig counts signatures of an account, and how many it needs. Only asked where
   * the hub has one.
   */
  multisig(account: Address): Promise<{ readonly isSigner: boolean; readonly threshold: number }>;
  /**
   * The one payload that the allocator recorded for a withdrawal address; undefined: none yet. Only asked
   * where the hub has an allocator.
   */
  recordedWithdrawal(withdrawalAddress: Address): Promise<Hex32 | undefined>;
}
