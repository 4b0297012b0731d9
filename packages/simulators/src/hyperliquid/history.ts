import type { Address, ExchangeAction, Hex } from "@causeway/domain";

/** A transaction as the explorer tells it. */
export interface ExplorerTransaction {
  /** Ms of its block. */
  readonly time: number;
  readonly user: Address;
  readonly action: ExchangeAction;
  readonly block: number;
  readonly hash: Hex;
  /** Why it did not happen; null when it did. */
  readonly error: string | null;
}

/** What an account's ledger says of a transfer. */
export interface LedgerUpdate {
  readonly time: number;
  readonly hash: Hex;
  readonly delta: Readonly<Record<string, string | number>>;
}

/** Everything that the exchange ever took in, in its order, and how much of it is shown. */
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
  holdBack(transactions: number): void {
    this.#heldBack = transactions;
  }

  /** Hides that transaction. */
  hide(hash: Hex): void {
    this.#hidden.add(hash);
  }

  transaction(hash: string): ExplorerTransaction | undefined {
    return this.#shown().find((one) => one.hash === hash);
  }

  /** Newest first. */
  ofUser(user: string, most: number): ExplorerTransaction[] {
    return this.#shown()
      .filter((one) => one.user === user)
      .toReversed()
      .slice(0, most);
  }

  /** Oldest first, both ends inside. */
  updatesOf(user: string, from: number, to: number, most: number): LedgerUpdate[] {
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
      .slice(0, most);
  }

  #shown(): ExplorerTransaction[] {
    const end = Math.max(0, this.transactions.length - this.#heldBack);
    return this.transactions.slice(0, end).filter(({ hash }) => !this.#hidden.has(hash));
  }
}
