import { assetKey } from "./asset.ts";
import type { LedgerAsset } from "./asset.ts";

/**
 * Accounts of a wallet. `balance`: available. `pending`: reserved for something in progress. `owed`: debt, as
 * a negative balance.
 */
export const walletAccounts = ["balance", "pending", "owed"] as const;
export type WalletAccount = (typeof walletAccounts)[number];

/**
 * Accounts of the service, opposite the wallets'. `custody`: minus what the solver holds on chain for
 * wallets. `fees`: earned. `fronted`: received for fast fills whose deposit never arrived.
 */
export const serviceAccounts = ["custody", "fees", "fronted"] as const;
export type ServiceLedgerAccount = (typeof serviceAccounts)[number];

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

/** One line of a movement: `amount` base units are added to the account (negative: removed), never zero. */
export interface LedgerEntry {
  readonly account: WalletAccount | ServiceLedgerAccount;
  readonly asset: LedgerAsset;
  readonly amount: bigint;
}

/** Merges lines to one per account and asset, and drops zero lines. */
export function mergeEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const merged = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    const key = `${entry.account}:${assetKey(entry.asset)}`;
    merged.set(key, { ...entry, amount: entry.amount + (merged.get(key)?.amount ?? 0n) });
  }
  return [...merged.values()].filter(({ amount }) => amount !== 0n);
}
