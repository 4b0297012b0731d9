import type { Address } from "@causeway/domain";

/** A contract of the service that a chain was configured with. */
export interface UsedContract {
  readonly chainId: number;
  readonly address: Address;
  /** Its key in the chain file. */
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
  /** Records the contracts in use; existing entries keep their time. */
  note(used: readonly UsedContract[]): Promise<void>;
  /** Quotes of a chain issued before a time that can still be paid, and when the last of them ends. */
  openQuotes(chainId: number, givenBeforeMs: number, nowMs: number): Promise<OpenRequests>;
  /** Requests from or to a chain quoted before a time that can still be filled. */
  openOrders(chainId: number, givenBeforeMs: number, nowMs: number): Promise<OpenRequests>;
}
