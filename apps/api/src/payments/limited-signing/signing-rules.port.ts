import type { Address, Chain, PricedUnit } from "@causeway/domain";

/**
 * The rules for what a signer process may sign for its key. No database row or other process can change them.
 */
export interface SigningRules {
  readonly key: "solver" | "executor";
  /** Maximum value of one transaction with its maximum gas, USD with 18 decimals. */
  readonly transactionUsd: bigint;
  /** Maximum value in any 24 hours, over all chains, USD with 18 decimals. */
  readonly dayUsd: bigint;
  readonly chains: ReadonlyMap<number, ChainRules>;
}

export interface ChainRules {
  readonly maxFeePerGasWei: bigint;
  /** Data fee of rollups, counted per kilobyte of a transaction in addition to gas. USD with 18 decimals. */
  readonly dataFeeUsdPerKb: bigint;
  /** Currencies that may be paid, with the price that limits count. The zero address is the native token. */
  readonly currencies: ReadonlyMap<Address, PricedUnit>;
  /** Contracts that payments may go through. */
  readonly contracts: Partial<Pick<Chain["contracts"], "router" | "approvalProxy">>;
  /** Contracts that may be called, without native tokens, to execute what oracles signed. */
  readonly hubContracts: readonly Address[];
}

/** Counts a signature, or a refusal by its rule. */
export type CountSigning = (result: "signed" | "refused", rule?: string) => void;

/** Amounts that one account signed in the last 24 hours, on disk. */
export interface SigningRecord {
  /**
   * Counts the value of a transaction, as far as it exceeds everything that was signed for the nonce before:
   * only one transaction of a nonce can be mined. The count is on disk when this returns.
   * @returns the sum of the last 24 hours including the transaction, USD with 18 decimals; nothing is counted
   * if that exceeds `maxUsd`
   * @throws Error when another process wrote to the file, or the disk fails: nothing may be signed then
   */
  count(transaction: {
    readonly chainId: number;
    readonly nonce: number;
    readonly usd: bigint;
    readonly maxUsd: bigint;
  }): Promise<bigint>;
  /** @throws Error when nothing can be counted now */
  check(): Promise<void>;
  /**
   * How far (ms) the newest line is ahead of a clock that was set back. Until the clock has caught up, no
   * line leaves the 24-hour window. 0 for less than a minute.
   */
  aheadMs(): number;
  close(): Promise<void>;
}
