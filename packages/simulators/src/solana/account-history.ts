/** One account as the machine holds it. */
export interface StoredAccount {
  readonly lamports: bigint;
  /** base58. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

interface Version {
  /** The first slot in which the account was so. */
  readonly slot: number;
  readonly account: StoredAccount | undefined;
}

/**
 * What accounts were at earlier slots: the machine itself knows the newest state only, and readers of the
 * final view must not see that.
 */
export class AccountHistory {
  private readonly versions = new Map<string, Version[]>();

  /** Must get an account's state before and after every change. */
  changed(
    address: string,
    slot: number,
    before: StoredAccount | undefined,
    after: StoredAccount | undefined,
  ): void {
    let versions = this.versions.get(address);
    if (versions === undefined) {
      versions = [{ slot: 0, account: before }];
      this.versions.set(address, versions);
    }
    if (versions.at(-1)?.slot === slot) versions.pop();
    versions.push({ slot, account: after });
  }

  /** The account as it was at the end of `slot`; `newest` where it was never changed. */
  at(address: string, slot: number, newest: () => StoredAccount | undefined): StoredAccount | undefined {
    const versions = this.versions.get(address);
    if (versions === undefined) return newest();
    return versions.findLast((version) => version.slot <= slot)?.account;
  }

  /** Accounts that were ever changed. */
  addresses(): readonly string[] {
    return [...this.versions.keys()];
  }

  /** Forgets what happened from `slot` on; tells for each account concerned what it is again. */
  dropFrom(
    slot: number,
  ): readonly { readonly address: string; readonly account: StoredAccount | undefined }[] {
    return [...this.versions].flatMap(([address, versions]) => {
      if ((versions.at(-1)?.slot ?? 0) < slot) return [];
      const kept = versions.filter((version) => version.slot < slot);
      this.versions.set(address, kept);
      return [{ address, account: kept.at(-1)?.account }];
    });
  }
}
