import type { Address, Hex } from "../ids/hex.ts";

/**
 * One call within a transaction, as a tracing node tells it; everything inside is chosen by whoever wrote the
 * contracts.
 */
export interface CallFrame {
  /** `CALL`, `STATICCALL`, `DELEGATECALL`, `CREATE` … */
  readonly type: string;
  readonly from: Address;
  /** Whom the call went to; for a creation the new contract, unless it failed. */
  readonly to: Address | undefined;
  readonly input: Hex;
  /** What was returned or reverted with; `0x` when nothing was. */
  readonly output: Hex;
  /** Gas given to the call. */
  readonly gas: bigint;
  /** Gas it used, that of its own calls included. */
  readonly gasUsed: bigint;
  readonly value: bigint;
  /** The node's word for why it failed; undefined when it did not fail. */
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
  /** How many calls of its frame were made before it. */
  readonly position: number;
}
