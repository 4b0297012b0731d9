import type { Address, Hex } from "@causeway/domain";
import { ExchangeRefusal } from "./refusal.ts";

/** The name of a dex (empty for the first one, or `spot`) and a token id. */
export interface BalancePlace {
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

  of(account: Address, place: BalancePlace): bigint {
    return this.#amounts.get(keyOf(account, place)) ?? 0n;
  }

  add(account: Address, place: BalancePlace, amount: bigint): void {
    this.#accounts.add(account);
    this.#amounts.set(keyOf(account, place), this.of(account, place) + amount);
  }

  /** @throws ExchangeRefusal if the balance is insufficient */
  take(account: Address, place: BalancePlace, amount: bigint): void {
    const left = this.of(account, place) - amount;
    if (left < 0n) throw new ExchangeRefusal("Insufficient balance for transfer");
    this.#amounts.set(keyOf(account, place), left);
  }
}

function keyOf(account: Address, { dex, tokenId }: BalancePlace): string {
  return `${account} ${dex} ${tokenId}`;
}
