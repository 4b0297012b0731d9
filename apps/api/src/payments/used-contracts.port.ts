import type { Address } from "@causeway/domain";

/** A contract of the service that a chain was configured with. */
export interface UsedContract {
  readonly chainId: number;
  readonly address: Address;
  /** The contract's key in the chain file. */
  readonly role: string;
  readonly firstUsedAtMs: number;
}

export interface OpenRequests {
  readonly count: number;
  /** When the last of these requests ends, ms since the epoch; 0 if there are none. */
  readonly untilMs: number;
}

/** Every contract of the service that was ever configured. */
export interface UsedContracts {
  all(): Promise<readonly UsedContract[]>;
  /** Records the contracts in use; existing entries keep their time. */
  note(used: readonly UsedContract[]): Promise<void>;
  /** Quotes from a chain that were issued before `quotedBeforeMs` and can still be paid. */
  openQuotes(chainId: number, quotedBeforeMs: number, nowMs: number): Promise<OpenRequests>;
  /** Requests from or to a chain that were quoted before `quotedBeforeMs` and can still be filled. */
  openOrders(chainId: number, quotedBeforeMs: number, nowMs: number): Promise<OpenRequests>;
}
