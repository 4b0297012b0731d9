import type { Address, Hex } from "../ids/hex.ts";

/**
 * One call within a transaction, as reported by a tracing node. Untrusted: the contracts' authors control its
 * contents.
 */
export interface CallFrame {
  /** `CALL`, `STATICCALL`, `DELEGATECALL`, `CREATE` … */
  readonly type: string;
  readonly from: Address;
  /** The callee; for a creation the new contract, unless it failed. */
  readonly to: Address | undefined;
  readonly input: Hex;
  /** Return or revert data; `0x` if none. */
  readonly output: Hex;
  /** Gas given to the call. */
  readonly gas: bigint;
  /** Gas used, including its own calls. */
  readonly gasUsed: bigint;
  readonly value: bigint;
  /** The node's error text. Undefined if the call did not fail. */
  readonly error: string | undefined;
  readonly logs: readonly PlacedLog[];
  readonly calls: readonly CallFrame[];
}

export interface FrameLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface PlacedLog extends FrameLog {
  /** How many calls the log's frame had made before emitting it. */
  readonly position: number;
}
