import type { Address, LocalAccount } from "viem";
import type { TestChain, Tx } from "./chain.ts";

/**
 * Shared setup of the gas measurements: contracts deployed in a fixed order, and unused accounts and tokens.
 */
export interface GasBench {
  readonly chain: TestChain;
  readonly depository: Address;
  readonly router: Address;
  readonly proxy: Address;
  readonly amountWei: bigint;
  readonly amountUsd: bigint;
  /** A new token, held only by `holder`, without approvals. */
  freshUsd(holder: Address): Promise<Address>;
  /** The next account that never held anything. */
  freshRecipient(): Address;
  gasOf(from: LocalAccount, tx: Tx): Promise<number>;
}
