import type { Address, Hex } from "@causeway/domain";
import { ExchangeRefusal } from "./refusal.ts";

/** A dex's name (empty: the first; `spot`), and a token's id. */
export interface BalancePlace {
  readonly dex: string;
  readonly tokenId: Hex;
}

/** What accounts have, in the smallest units of each token. */
export class Balances {
  readonly #amounts = new Map<string, bigint>();
  readonly #accounts = new Set<Address>();

  /** An account exists from the first time it receives something. */
  has(account: Address): boolean {
    return this.#accounts.has(account);
  }

  of(account: Address, place: BalancePlace): bigint {
    return this.#amounts.get(keyOf(account, place)) ?? 0n;
  }

  add(account: Address, place: BalancePlace, amount: bigint): void {
    this.#accounts.add(account);
    this.#amounts.set(keyOf(account, place), this.of(account, place) + amount);
  }

  /** @throws ExchangeRefusal when there is not so much */
  take(account: Address, place: BalancePlace, amount: bigint): void {
    const left = this.of(account, place) - amount;
    if (left < 0n) throw new ExchangeRefusal("Insufficient balance for transfer");
    this.#amounts.set(keyOf(account, place), left);
  }
}

function keyOf(account: Address, { dex, tokenId }: BalancePlace): string {
  return `${account} ${dex} ${tokenId}`;
}
