import type { Page, PlaceInTime } from "../db/page.port.ts";
import type { Address, Hex32, MovementContext, RequestId, WalletAccount } from "@causeway/domain";
import type { ClaimRecord } from "./claims.port.ts";
import type { HoldRecord, WalletBook } from "./ledger.port.ts";
import type { Overdue } from "../db/job-runs.port.ts";

/** One line of a wallet's ledger. */
export interface BalanceEvent {
  readonly id: string;
  readonly account: WalletAccount;
  readonly chainId: number;
  readonly currency: Address;
  /** Smallest units, negative when taken. */
  readonly delta: bigint;
  /** What the account had then; of a debt as much below zero as is owed. */
  readonly balanceAfter: bigint;
  readonly context: MovementContext;
  readonly reason: string;
  readonly requestId: RequestId | undefined;
  readonly atMs: number;
}

/** All wallets together. */
export interface BalanceTotals {
  readonly activeHolds: number;
  /** USD with 18 decimals. */
  readonly heldUsd: bigint;
  /** Smallest units; currencies in which nobody owes anything are absent. */
  readonly owed: ReadonlyArray<{ readonly currency: Address; readonly amount: bigint }>;
  readonly topUpsSeen: number;
  readonly topUpsUnattributed: number;
  readonly claimsPaying: number;
  /** When the oldest of them was offered. */
  readonly oldestClaimMs: number | undefined;
}

/** Reads of app balances outside any transaction. */
export interface BalanceReads {
  book(wallet: Address): Promise<WalletBook>;
  /** @param page after = the id of an event */
  events(wallet: Address, page: Page<string>): Promise<BalanceEvent[]>;
  holds(wallet: Address, page: Page<PlaceInTime>): Promise<HoldRecord[]>;
  /** Those that were signed. */
  claims(wallet: Address, page: Page<PlaceInTime>): Promise<ClaimRecord[]>;
  claim(claimId: Hex32): Promise<ClaimRecord | undefined>;
  /** Claims being paid that stand without a nonce and without a job. */
  overdueClaims(overdue: Overdue, limit: number): Promise<Hex32[]>;
  totals(): Promise<BalanceTotals>;
}
