/**
 * The facts of a transaction that concern funds: its instructions, its logs, and the balances of its accounts
 * before and after. Keys are in base58.
 */
export interface TransactionFacts {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds of its block. */
  readonly timestamp: bigint;
  readonly feePayer: string;
  /** Every account that signed, the fee payer first. */
  readonly signers: readonly string[];
  /** Whether it failed. Then it had no effect except its fee. */
  readonly failed: boolean;
  /**
   * Every instruction in execution order: each of the transaction's own, followed by the inner instructions
   * that it invoked.
   */
  readonly instructions: readonly InstructionFact[];
  readonly logs: readonly string[];
  /** Lamports before and after, by account; undefined if a JSON number is too large to be exact. */
  readonly lamports: ReadonlyMap<string, BeforeAndAfter | undefined>;
  readonly tokens: readonly TokenHolding[];
}

export interface InstructionFact {
  /** Position of the instruction: the transaction's own instructions come first, then the inner ones. */
  readonly index: number;
  /** Whether it is one of the transaction's own instructions, not an inner one. */
  readonly isTopLevel: boolean;
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

export interface BeforeAndAfter {
  readonly before: bigint;
  readonly after: bigint;
}

/** A token account of a transaction. */
export interface TokenHolding {
  readonly account: string;
  /** Undefined if the account is not a token account before the transaction; `after` likewise. */
  readonly before: TokenState | undefined;
  readonly after: TokenState | undefined;
}

export interface TokenState {
  readonly mint: string;
  readonly owner: string;
  /** The token program that owns the account. */
  readonly program: string;
  readonly amount: bigint;
}

/** One account of a finalized state. */
export interface AccountFact {
  readonly owner: string;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}
