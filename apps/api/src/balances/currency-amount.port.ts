import type { Currency } from "@causeway/domain";

/** An amount of one currency of a chain, in base units. */
export interface CurrencyAmount {
  readonly chain: string;
  readonly currency: Currency;
  readonly amount: bigint;
}
