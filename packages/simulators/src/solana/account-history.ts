/** One account as the virtual machine stores it. */
export interface StoredAccount {
  readonly lamports: bigint;
  /** base58. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

interface Version {
  /** The first slot with this version. */
  readonly slot: number;
  readonly account: StoredAccount | undefined;
}

/**
 * Earlier versions of accounts. The virtual machine keeps only the newest state, which readers of finalized
 * state must not see.
 */
export class AccountHistory {
  private readonly versions = new Map<string, Version[]>();

  /** Must be called with an account's state before and after every change. */
  recordChange(
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

  /** The account at the end of `slot`; `newest` if it never changed. */
  accountAt(
    address: string,
    slot: number,
    newest: () => StoredAccount | undefined,
  ): StoredAccount | undefined {
    const versions = this.versions.get(address);
    if (versions === undefined) return newest();
    return versions.findLast((version) => version.slot <= slot)?.account;
  }

  /** Addresses of all accounts that ever changed. */
  addresses(): readonly string[] {
    return [...this.versions.keys()];
  }

  /** Drops all versions from `slot` on; returns the restored version of each affected account. */
  dropFrom(
    slot: number,
  ): readonly { readonly address: string; readonly account: StoredAccount | undefined }[] {
    return [...this.versions].flatMap(([address, versions]) => {
      if ((versions.at(-1)?.slot ?? 0) < slot) return [];
      const remaining = versions.filter((version) => version.slot < slot);
      this.versions.set(address, remaining);
      return [{ address, account: remaining.at(-1)?.account }];
    });
  }
}
