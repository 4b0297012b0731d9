/**
 * A transaction as far as money is concerned: its instructions, its logs, and what its accounts held before
 * and after. Keys in base58.
 */
export interface TransactionFacts {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds of its block. */
  readonly timestamp: bigint;
  readonly feePayer: string;
  /** Every account that signed, the fee payer first. */
  readonly signers: readonly string[];
  /** It failed: nothing of what it did stands, but for its fee. */
  readonly failed: boolean;
  /**
   * Every instruction in the order in which they began: each of the transaction's own, then those that it led
   * to.
   */
  readonly instructions: readonly InstructionFact[];
  readonly logs: readonly string[];
  /** By account: lamports before and after; undefined where a number of JSON is too large to be exact. */
  readonly lamports: ReadonlyMap<string, BeforeAndAfter | undefined>;
  readonly tokens: readonly TokenHolding[];
}

export interface InstructionFact {
  /** Its place among the transaction's own instructions, and behind them those that these led to. */
  readonly index: number;
  /** One of the transaction's own instructions, not one that a program made. */
  readonly isTopLevel: boolean;
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

export interface BeforeAndAfter {
  readonly before: bigint;
  readonly after: bigint;
}

/** A token account that a transaction names. */
export interface TokenHolding {
  readonly account: string;
  /** Undefined: it was no token account before, or is none after. */
  readonly before: TokenState | undefined;
  readonly after: TokenState | undefined;
}

export interface TokenState {
  readonly mint: string;
  readonly owner: string;
  /** The token program that it belongs to. */
  readonly program: string;
  readonly amount: bigint;
}

/** One account of a finalized state. */
export interface AccountFact {
  readonly owner: string;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}
