import type { Address } from "@causeway/domain";

/** How much of a currency funded requests paid or requested. */
export interface TokenTraffic {
  readonly chainId: number;
  readonly address: Address;
  readonly day: Traffic;
  /** Includes the day. */
  readonly week: Traffic;
}

export interface Traffic {
  readonly requests: number;
  /** Millionths of a USD, as quoted. */
  readonly microUsd: bigint;
}

/** Recent traffic of this instance; aggregated in the background, a few minutes old. */
export interface RecentTraffic {
  latest(): readonly TokenTraffic[];
}
