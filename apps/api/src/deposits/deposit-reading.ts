import type { DepositFact } from "@causeway/chains";
import type { Chain, NonEvmChain, OrderId } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { IsTooSmall } from "./too-small-deposits.ts";

/** Where and when deposits were read. On non-EVM chains they are already final. */
export interface Reading {
  readonly chain: Chain | NonEvmChain;
  /** Height of the chain as far as the reader knows. */
  readonly headNumber: bigint;
  /** When this process saw the block (ms since the epoch): the start of the fill latency. */
  readonly seenAtMs: number;
  /** Absent: no deposit counts as too small. */
  readonly isTooSmall?: IsTooSmall;
}

/** A deposit that is new, or is now in another block. */
export interface MovedDeposit {
  readonly fact: Omit<DepositFact, "logIndex">;
  readonly deposit: DepositRecord;
}

export type Records = ReadonlyMap<OrderId, RequestRecord>;

export function recordOf(records: Records, { fact }: MovedDeposit): RequestRecord | undefined {
  return fact.id === undefined ? undefined : records.get(fact.id);
}
