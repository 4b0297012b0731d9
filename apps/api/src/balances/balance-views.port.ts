import type { Currency } from "@causeway/domain";
import type { ClaimRecord } from "./claims.port.ts";

/** A wallet's balance in one currency. */
export interface BalanceView {
  readonly currency: Currency;
  /** Base units. */
  readonly amount: bigint;
  readonly pending: bigint;
  readonly owed: bigint;
  /** Value of `amount`, USD with 18 decimals. */
  readonly usd: bigint;
}

/** The app balance of a wallet. USD with 18 decimals. */
export interface BalancesView {
  /** The currency that is charged first, even if its balance is zero. */
  readonly main: BalanceView;
  /** Every currency with an available, pending or owed amount. */
  readonly all: readonly BalanceView[];
  readonly totalUsd: bigint;
  readonly heldUsd: bigint;
  readonly availableUsd: bigint;
}

/** A claim and the current value of its amount. */
export interface ClaimView {
  readonly claim: ClaimRecord;
  readonly currency: Currency;
  /** USD with 18 decimals. */
  readonly usd: bigint;
}
