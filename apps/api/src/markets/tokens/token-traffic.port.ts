import type { Address } from "@causeway/domain";

/** How much one currency was paid or asked for by requests whose money came. */
export interface TokenTraffic {
  readonly chainId: number;
  readonly address: Address;
  readonly day: Traffic;
  /** The day included. */
  readonly week: Traffic;
}

export interface Traffic {
  readonly requests: number;
  /** Millionths of a USD, as quoted. */
  readonly microUsd: bigint;
}

/** What this instance saw lately; aggregated aside, some minutes old. */
export interface RecentTraffic {
  latest(): readonly TokenTraffic[];
}
