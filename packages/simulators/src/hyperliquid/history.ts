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
  #heldBack = 0;

  add(transaction: ExplorerTransaction, delta: LedgerUpdate["delta"] | undefined, accounts: Address[]): void {
    this.transactions.push(transaction);
    const { time, hash } = transaction;
    if (delta !== undefined) this.#updates.push({ accounts, update: { time, hash, delta } });
  }

  /** Hides the newest transactions, as if the indexes were behind. */
  holdBack(count: number): void {
    this.#heldBack = count;
  }

  /** Hides one transaction. */
  hide(hash: Hex): void {
    this.#hidden.add(hash);
  }

  transaction(hash: string): ExplorerTransaction | undefined {
    return this.#shown().find((entry) => entry.hash === hash);
  }

  /** Newest first. */
  ofUser(user: string, max: number): ExplorerTransaction[] {
    return this.#shown()
      .filter((entry) => entry.user === user)
      .toReversed()
      .slice(0, max);
  }

  /** Oldest first, both ends inclusive. */
  updatesOf(user: string, from: number, to: number, max: number): LedgerUpdate[] {
    const shown = new Set(this.#shown().map(({ hash }) => hash));
    return this.#updates
      .filter(
        ({ accounts, update }) =>
          accounts.includes(user as Address) &&
          shown.has(update.hash) &&
          update.time >= from &&
          update.time <= to,
      )
      .map(({ update }) => update)
      .slice(0, max);
  }

  #shown(): ExplorerTransaction[] {
    const end = Math.max(0, this.transactions.length - this.#heldBack);
    return this.transactions.slice(0, end).filter(({ hash }) => !this.#hidden.has(hash));
  }
}
