import type { Address, Currency, Hex, Hex32 } from "@causeway/domain";
import type { BalanceEvent } from "./balance-reads.port.ts";
import type { Page, PlaceInTime } from "../db/page.port.ts";
import type { ClaimRecord, NewClaim } from "./claims.port.ts";
import type { IdempotencyLease, StoredAnswer } from "../http/idempotency.port.ts";
import type { HoldRecord } from "./ledger.port.ts";

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

/** What the routes of the app balance ask for. */
export interface AppBalanceRoutes {
  /** @throws ServiceError PRICE_FETCH_FAILED */
  balances(wallet: Address): Promise<BalancesView>;
  events(wallet: Address, page: Page<string>): Promise<BalanceEvent[]>;
  holds(wallet: Address, page: Page<PlaceInTime>): Promise<{ holds: HoldRecord[]; exposureUsd: bigint }>;
  claims(wallet: Address, page: Page<PlaceInTime>): Promise<ClaimView[]>;
  offerClaim(question: {
    readonly wallet: Address;
    readonly chainId: number;
    readonly currency: Address;
    readonly recipient: Address;
    readonly amount: bigint | undefined;
  }): Promise<NewClaim>;
  acceptClaim(
    claimId: Hex32,
    signature: Hex,
    keep?: { readonly lease: IdempotencyLease; readonly answer: StoredAnswer },
  ): Promise<void>;
}
