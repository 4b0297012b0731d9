import { assetKey } from "./asset.ts";
import type { LedgerAsset } from "./asset.ts";

/**
 * Accounts of a wallet. `balance`: what it may use. `pending`: set aside for something under way. `owed`:
 * what it owes, kept as a balance below zero.
 */
export const walletAccounts = ["balance", "pending", "owed"] as const;
export type WalletAccount = (typeof walletAccounts)[number];

/**
 * Accounts of the house, the other side of the wallets'. `custody`: below zero by what the solver holds on
 * chain for wallets. `fees`: earned. `fronted`: got for fast fills whose deposit never came.
 */
export const houseAccounts = ["custody", "fees", "fronted"] as const;
export type HouseAccount = (typeof houseAccounts)[number];

/** Why money moved, as `GET /balance-events` names it. */
export const movementContexts = [
  "set-pending-amount",
  "unset-pending-amount",
  "pay-fees",
  "claim",
  "fast-fill-reduce-balance",
  "fast-fill-increase-balance",
  "balance-topup",
  "balance-topup-reversed",
  "app-fee",
] as const;
export type MovementContext = (typeof movementContexts)[number];

/**
 * One line of a movement: `amount` smallest units are added to the account (taken when negative), never zero.
 */
export interface LedgerEntry {
  readonly account: WalletAccount | HouseAccount;
  readonly asset: LedgerAsset;
  readonly amount: bigint;
}

/** One line per account and asset, and none that moves nothing: how a movement is written down. */
export function mergeEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const merged = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    const key = `${entry.account}:${assetKey(entry.asset)}`;
    merged.set(key, { ...entry, amount: entry.amount + (merged.get(key)?.amount ?? 0n) });
  }
  return [...merged.values()].filter(({ amount }) => amount !== 0n);
}
