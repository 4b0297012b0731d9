import type { FinalHead } from "@causeway/chains";
import type { Address, Hex32 } from "@causeway/domain";

/**
 * Reads of the hub, always at a block that is final by the hub's policy.
 * @throws RpcFault
 */
export interface HubReader {
  /** Balance of a hub token in base units. */
  balanceOf(account: Address, tokenId: bigint): Promise<bigint>;
  /** The newest final block of the hub. */
  newestFinal(): Promise<FinalHead>;
  /**
   * Whether the hub's OracleMultisig accepts signatures of an account, and its threshold. Called only if the
   * hub has one.
   */
  multisig(account: Address): Promise<{ readonly isSigner: boolean; readonly threshold: number }>;
  /**
   * The payload that the allocator recorded for a withdrawal address, if any. Called only if the hub has an
   * allocator.
   */
  recordedWithdrawal(withdrawalAddress: Address): Promise<Hex32 | undefined>;
}
