import type { Address } from "@causeway/domain";

/** A contract of the service that a chain was configured with. */
export interface UsedContract {
  readonly chainId: number;
  readonly address: Address;
  /** Its name in the chain file. */
  readonly role: string;
  readonly firstUsedAtMs: number;
}

export interface OpenRequests {
  readonly count: number;
  /** When the last of them ends. */
  readonly untilMs: number;
}

/** Every contract of the service that was ever configured. */
export interface UsedContracts {
  all(): Promise<readonly UsedContract[]>;
  /** Notes what is used now; what was noted before keeps its time. */
  note(used: readonly UsedContract[]): Promise<void>;
  /**
   * Quotes of a chain that were given before a moment and can still be paid, and when the last of them ends.
   */
  openQuotes(chainId: number, givenBeforeMs: number, nowMs: number): Promise<OpenRequests>;
  /** Requests from or to a chain that were quoted before a moment and can still be filled. */
  openOrders(chainId: number, givenBeforeMs: number, nowMs: number): Promise<OpenRequests>;
}
