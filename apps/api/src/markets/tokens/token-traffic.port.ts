import type { Address } from "@causeway/domain";

/** How often funded requests used a currency, as input or output. */
export interface TokenTraffic {
  readonly chainId: number;
  readonly address: Address;
  readonly day: Traffic;
  /** The last seven days, including the last day. */
  readonly week: Traffic;
}

export interface Traffic {
  readonly requests: number;
  /** Quoted value, millionths of a USD. */
  readonly microUsd: bigint;
}

/** Recent traffic of this instance. Aggregated in the background, so it is a few minutes old. */
export interface RecentTraffic {
  latest(): readonly TokenTraffic[];
}
