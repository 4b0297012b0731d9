import type { Address, Chain, PricedUnit } from "@causeway/domain";

/**
 * The rules for what a signer process may sign for its key. No database row or other process can change them.
 */
export interface SigningRules {
  readonly key: "solver" | "executor";
  /** Maximum of one transaction with its maximum gas, USD with 18 decimals. */
  readonly transactionUsd: bigint;
  /** Maximum of any 24 hours, over all chains, USD with 18 decimals. */
  readonly dayUsd: bigint;
  readonly chains: ReadonlyMap<number, ChainRules>;
}

export interface ChainRules {
  readonly maxFeePerGasWei: bigint;
  /** Counted for each kilobyte of a transaction, for rollups that charge data apart from gas. 18 decimals. */
  readonly dataFeeUsdPerKb: bigint;
  /** What may be paid, with the highest price that limits count. The zero address is the native token. */
  readonly currencies: ReadonlyMap<Address, PricedUnit>;
  /** Payments may go through these. */
  readonly contracts: Partial<Pick<Chain["contracts"], "router" | "approvalProxy">>;
  /** May be called without native tokens, with the calls that run what oracles signed. */
  readonly hubContracts: readonly Address[];
}

/** Counts a signature, or a refusal by its rule. */
export type CountSigning = (result: "signed" | "refused", rule?: string) => void;

/** Amounts that one account signed in the last 24 hours, on disk. */
export interface SigningRecord {
  /**
   * Counts what a nonce is worth more than anything signed for it before: only one transaction of a nonce can
   * be mined. On disk when it returns.
   * @returns the sum of the last 24 hours with it, USD with 18 decimals; not counted if it exceeds `maxUsd`
   * @throws Error when another process wrote to the file, or the disk fails: nothing may be signed then
   */
  count(signed: {
    readonly chainId: number;
    readonly nonce: number;
    readonly usd: bigint;
    readonly maxUsd: bigint;
  }): Promise<bigint>;
  /** @throws Error when nothing can be counted now */
  check(): Promise<void>;
  /**
   * How far the newest line is ahead of the clock, which was set back: until then, no line gets older than 24
   * hours. 0 for less than a minute.
   */
  aheadMs(): number;
  close(): Promise<void>;
}
