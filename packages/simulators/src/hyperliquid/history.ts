import type { Address, HyperliquidTransferAction, Hex } from "@causeway/domain";

/** A transaction in the explorer's format. */
export interface ExplorerTransaction {
  /** Time of its block, ms. */
  readonly time: number;
  readonly user: Address;
  readonly action: HyperliquidTransferAction;
  readonly block: number;
  readonly hash: Hex;
  /** Why it failed; null if it succeeded. */
  readonly error: string | null;
}

/** A transfer in an account's ledger. */
export interface LedgerUpdate {
  readonly time: number;
  readonly hash: Hex;
  readonly delta: Readonly<Record<string, string | number>>;
}

/** All transactions in order, and which of them are visible. */
export class History {
  readonly transactions: ExplorerTransaction[] = [];
  readonly #updates: { readonly accounts: readonly Address[]; readonly update: LedgerUpdate }[] = [];
  readonly #hidden = new Set<Hex>();
  #hiddenNewest = 0;

  add(transaction: ExplorerTransaction, delta: LedgerUpdate["delta"] | undefined, accounts: Address[]): void {
    this.transactions.push(transaction);
    const { time, hash } = transaction;
    if (delta !== undefined) this.#updates.push({ accounts, update: { time, hash, delta } });
  }

  /** Hides the newest transactions, as if the indexes were behind. */
  hideNewest(count: number): void {
    this.#hiddenNewest = count;
  }

  /** Hides one transaction. */
  hide(hash: Hex): void {
    this.#hidden.add(hash);
  }

  transaction(hash: string): ExplorerTransaction | undefined {
    return this.#visible().find((entry) => entry.hash === hash);
  }

  /** Newest first. */
  ofUser(user: string, max: number): ExplorerTransaction[] {
    return this.#visible()
      .filter((entry) => entry.user === user)
      .toReversed()
      .slice(0, max);
  }

  /** Oldest first, both ends inclusive. */
  updatesOf(user: string, from: number, to: number, max: number): LedgerUpdate[] {
    const visibleHashes = new Set(this.#visible().map(({ hash }) => hash));
    return this.#updates
      .filter(
        ({ accounts, update }) =>
          accounts.includes(user as Address) &&
          visibleHashes.has(update.hash) &&
          update.time >= from &&
          update.time <= to,
      )
      .map(({ update }) => update)
      .slice(0, max);
  }

  #visible(): ExplorerTransaction[] {
    const end = Math.max(0, this.transactions.length - this.#hiddenNewest);
    return this.transactions.slice(0, end).filter(({ hash }) => !this.#hidden.has(hash));
  }
}
