import type { Currency } from "@causeway/domain";

/** An amount of one currency of a chain, in base units. */
export interface HeldAmount {
  readonly chain: string;
  readonly currency: Currency;
  readonly amount: bigint;
}
