import type { Address } from "@causeway/domain";
import { assetKey } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { BookLine, HoldRecord, WalletBook } from "./ledger.port.ts";
import { defineSql, type Params, type Row } from "../db/define-query.postgres.ts";
import { ledgerAccounts, ledgerEntries } from "./ledger.tables.ts";
import { holds } from "./reservations.tables.ts";

/** The newest entry of an account, for a lateral join. */
export const newestEntry = text`
  select ${ledgerEntries.balanceAfter} from ${ledgerEntries}
  where ${ledgerEntries.wallet} = ${ledgerAccounts.wallet} and ${ledgerEntries.account} = ${ledgerAccounts.account}
    and ${ledgerEntries.chainId} = ${ledgerAccounts.chainId} and ${ledgerEntries.currency} = ${ledgerAccounts.currency}
  order by ${ledgerEntries.seq} desc limit 1`;

/** The balance of every account of a wallet. */
const BOOK = {
  account: ledgerAccounts.account,
  chainId: ledgerAccounts.chainId,
  currency: ledgerAccounts.currency,
  balanceAfter: BigInt,
};
export const readBook = defineSql(
  "ledger_book",
  BOOK,
  ({ wallet }: Params<{ wallet: Address }>) => text`
    select ${ledgerAccounts.account}, ${ledgerAccounts.chainId}, ${ledgerAccounts.currency}, e.balance_after
    from ${ledgerAccounts} cross join lateral (${newestEntry}) e
    where ${ledgerAccounts.wallet} = ${wallet} order by ${ledgerAccounts.chainId}, ${ledgerAccounts.currency}`,
);
/** The amounts that a wallet's active holds guarantee, by asset. */
const HELD = { chainId: holds.chainId, currency: holds.currency, amount: BigInt, usd: BigInt };
export const readHeld = defineSql(
  "ledger_held",
  HELD,
  ({ wallet }: Params<{ wallet: Address }>) => text`
    select ${holds.chainId}, ${holds.currency}, sum(${holds.amount}) as amount, sum(${holds.usd}) as usd from ${holds}
    where ${holds.wallet} = ${wallet} and ${holds.state} = 'active' group by 1, 2`,
);

/**
 * Groups accounts into one line per asset. The ledger stores debts as negative balances; a line has them as
 * positive amounts.
 */
export function bookOf(
  wallet: Address,
  rows: readonly Row<typeof BOOK>[],
  heldRows: readonly Row<typeof HELD>[],
): WalletBook {
  const lines = new Map<string, BookLine>();
  for (const { account, chainId, currency, balanceAfter } of rows) {
    const asset = { chainId, currency };
    const line = lines.get(assetKey(asset)) ?? { asset, balance: 0n, pending: 0n, owed: 0n };
    const amount = account === "owed" ? -balanceAfter : balanceAfter;
    lines.set(assetKey(asset), { ...line, [account]: amount });
  }
  const held = heldRows.map(({ chainId, currency, amount, usd }) => ({
    asset: { chainId, currency },
    amount,
    usd,
  }));
  const heldUsd = held.reduce((sum, { usd }) => sum + usd, 0n);
  return { wallet, lines: [...lines.values()], heldUsd, held };
}

export const HOLD = {
  requestId: holds.requestId,
  wallet: holds.wallet,
  keyId: holds.keyId,
  state: holds.state,
  usd: holds.usd,
  chainId: holds.chainId,
  currency: holds.currency,
  amount: holds.amount,
  debits: holds.debits,
  placedAtMs: holds.placedAtMs,
  resolvedAtMs: holds.resolvedAtMs,
};

export function holdOf(row: Row<typeof HOLD>): HoldRecord {
  return { ...row, resolvedAtMs: row.resolvedAtMs ?? undefined };
}
