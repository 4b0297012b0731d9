import type { Address, Hex } from "@causeway/domain";
import { HyperliquidError } from "./refusal.ts";

/** A dex (empty string: the first perp dex; `spot`: spot) and a token id. */
export interface BalanceKey {
  readonly dex: string;
  readonly tokenId: Hex;
}

/** Balances of accounts, in base units of each token. */
export class Balances {
  readonly #amounts = new Map<string, bigint>();
  readonly #accounts = new Set<Address>();

  /** An account exists once it has received something. */
  has(account: Address): boolean {
    return this.#accounts.has(account);
  }

  of(account: Address, key: BalanceKey): bigint {
    return this.#amounts.get(keyOf(account, key)) ?? 0n;
  }

  add(account: Address, key: BalanceKey, amount: bigint): void {
    this.#accounts.add(account);
    this.#amounts.set(keyOf(account, key), this.of(account, key) + amount);
  }

  /** @throws HyperliquidError if the balance is insufficient */
  debit(account: Address, key: BalanceKey, amount: bigint): void {
    const remaining = this.of(account, key) - amount;
    if (remaining < 0n) throw new HyperliquidError("Insufficient balance for transfer");
    this.#amounts.set(keyOf(account, key), remaining);
  }
}

function keyOf(account: Address, { dex, tokenId }: BalanceKey): string {
  return `${account} ${dex} ${tokenId}`;
}
