import type { Page, TimeCursor } from "../db/page.port.ts";
import type { Address, Hex32, MovementContext, RequestId, WalletAccount } from "@causeway/domain";
import type { ClaimRecord } from "./claims.port.ts";
import type { HoldRecord, WalletBook } from "./ledger.port.ts";
import type { Overdue } from "../db/job-runs.port.ts";

/** One entry of a wallet's ledger. */
export interface BalanceEvent {
  readonly id: string;
  readonly account: WalletAccount;
  readonly chainId: number;
  readonly currency: Address;
  /** Base units; negative for a charge. */
  readonly delta: bigint;
  /** The account's balance after this entry, base units. For a debt, the negative of the amount owed. */
  readonly balanceAfter: bigint;
  readonly context: MovementContext;
  readonly reason: string;
  readonly requestId: RequestId | undefined;
  readonly atMs: number;
}

/** Totals over all wallets. */
export interface BalanceTotals {
  readonly activeHolds: number;
  /** USD with 18 decimals. */
  readonly heldUsd: bigint;
  /** Base units; currencies without debts are absent. */
  readonly owed: ReadonlyArray<{ readonly currency: Address; readonly amount: bigint }>;
  readonly topUpsSeen: number;
  readonly topUpsUnattributed: number;
  readonly claimsPaying: number;
  /** When the oldest claim in state `paying` was offered; undefined: there is none. */
  readonly oldestClaimMs: number | undefined;
}

/** Reads of app balances outside a transaction. */
export interface BalanceReads {
  book(wallet: Address): Promise<WalletBook>;
  /** @param page `after` is the id of an event */
  events(wallet: Address, page: Page<string>): Promise<BalanceEvent[]>;
  holds(wallet: Address, page: Page<TimeCursor>): Promise<HoldRecord[]>;
  /** Signed claims only. */
  claims(wallet: Address, page: Page<TimeCursor>): Promise<ClaimRecord[]>;
  claim(claimId: Hex32): Promise<ClaimRecord | undefined>;
  /** Claims in state `paying` that have neither a nonce nor a job. */
  overdueClaims(overdue: Overdue, limit: number): Promise<Hex32[]>;
  totals(): Promise<BalanceTotals>;
}
