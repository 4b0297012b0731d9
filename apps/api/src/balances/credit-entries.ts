import type { LedgerAsset, LedgerEntry } from "@causeway/domain";
import { assetKey, splitCredit, splitDebit } from "@causeway/domain";
import type { BookLine, WalletBook } from "./ledger.port.ts";

/** The entries that credit `amount` of an asset to a wallet: first against its debt, then to its balance. */
export function creditEntries(book: WalletBook, asset: LedgerAsset, amount: bigint): LedgerEntry[] {
  const { repaid, credited } = splitCredit(amount, lineOf(book, asset).owed);
  return [
    { account: "balance", asset, amount: credited },
    { account: "owed", asset, amount: repaid },
  ];
}

/** The entries that debit `amount` of an asset from a wallet; any shortfall is owed. */
export function debitEntries(book: WalletBook, asset: LedgerAsset, amount: bigint): LedgerEntry[] {
  const { debited, owed } = splitDebit(amount, lineOf(book, asset).balance);
  return [
    { account: "balance", asset, amount: -debited },
    { account: "owed", asset, amount: -owed },
  ];
}

export function lineOf(book: WalletBook, asset: LedgerAsset): BookLine {
  const key = assetKey(asset);
  return (
    book.lines.find((line) => assetKey(line.asset) === key) ?? { asset, balance: 0n, pending: 0n, owed: 0n }
  );
}
