import type { Address, LocalAccount } from "viem";
import type { TestChain, Tx } from "./chain.ts";

/**
 * What the measurements of gas share: contracts deployed in a fixed order, and accounts and tokens that are
 * new to everyone.
 */
export interface GasBench {
  readonly chain: TestChain;
  readonly depository: Address;
  readonly router: Address;
  readonly proxy: Address;
  readonly amountWei: bigint;
  readonly amountUsd: bigint;
  /** A token of which only `holder` has any, plenty of it, without approvals. */
  freshUsd(holder: Address): Promise<Address>;
  /** The next account that never held anything. */
  freshRecipient(): Address;
  gasOf(from: LocalAccount, tx: Tx): Promise<number>;
}
