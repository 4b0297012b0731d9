import type { Address } from "@causeway/domain";
import { assetKey } from "@causeway/domain";
import type { BookLine, WalletBook } from "./ledger.port.ts";

/** The newest entry of every account of a wallet: its balance. */
export const BOOK_QUERY = `select a.account, a.chain_id, a.currency, e.balance_after
  from ledger_accounts a cross join lateral (
    select balance_after from ledger_entries
    where wallet = a.wallet and account = a.account and chain_id = a.chain_id and currency = a.currency
    order by seq desc limit 1
  ) e
  where a.wallet = $1 order by a.chain_id, a.currency`;

/** What the active holds of a wallet have promised, by asset. */
export const HELD_QUERY =
  "select chain_id, currency, sum(amount) as amount, sum(usd) as usd from holds where wallet = $1 and state = 'active' group by 1, 2";

export interface HeldRow {
  chain_id: number;
  currency: string;
  amount: bigint;
  usd: bigint;
}

export interface BookRow {
  account: string;
  chain_id: number;
  currency: string;
  balance_after: bigint;
}

/** One line per asset. What a wallet owes is kept below zero and told above it. */
export function bookOf(wallet: Address, rows: readonly BookRow[], heldRows: readonly HeldRow[]): WalletBook {
  const lines = new Map<string, BookLine>();
  for (const { account, chain_id, currency, balance_after } of rows) {
    const asset = { chainId: chain_id, currency: currency as Address };
    const line = lines.get(assetKey(asset)) ?? { asset, balance: 0n, pending: 0n, owed: 0n };
    const amount = account === "owed" ? -balance_after : balance_after;
    lines.set(assetKey(asset), { ...line, [account]: amount });
  }
  const held = heldRows.map(({ chain_id, currency, amount, usd }) => ({
    asset: { chainId: chain_id, currency: currency as Address },
    amount,
    usd,
  }));
  const heldUsd = held.reduce((sum, { usd }) => sum + usd, 0n);
  return { wallet, lines: [...lines.values()], heldUsd, held };
}
