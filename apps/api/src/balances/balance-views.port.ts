import type { Currency } from "@causeway/domain";
import type { ClaimRecord } from "./claims.port.ts";

/** One currency of a wallet. */
export interface BalanceView {
  readonly currency: Currency;
  /** Smallest units. */
  readonly amount: bigint;
  readonly pending: bigint;
  readonly owed: bigint;
  /** Worth of `amount`, USD with 18 decimals. */
  readonly usd: bigint;
}

/** What a wallet has. USD with 18 decimals. */
export interface BalancesView {
  /** The currency that charges take first, whether the wallet has any or not. */
  readonly main: BalanceView;
  /** Every currency in which it has, has set aside or owes anything. */
  readonly all: readonly BalanceView[];
  readonly totalUsd: bigint;
  readonly heldUsd: bigint;
  readonly availableUsd: bigint;
}

/** A claim and what its amount is worth now. */
export interface ClaimView {
  readonly claim: ClaimRecord;
  readonly currency: Currency;
  /** USD with 18 decimals. */
  readonly usd: bigint;
}
