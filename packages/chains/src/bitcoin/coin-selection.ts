import { dustLimit, vsizeOf, type InputKind } from "./sizes.ts";

/** An output that can be spent. */
export interface Coin {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
}

export interface Selection<C extends Coin> {
  readonly inputs: readonly C[];
  readonly fee: bigint;
  /** 0: there is none, and what it would have been is in the fee. */
  readonly change: bigint;
}

export interface SelectionWish<C extends Coin> {
  /** Outputs that must be spent. */
  readonly required: readonly C[];
  /** Outputs that may be spent too. */
  readonly available: readonly C[];
  readonly kind: InputKind;
  /** Scripts of all outputs but the change. */
  readonly outputs: readonly string[];
  /** Satoshis of all outputs but the change. */
  readonly amount: bigint;
  readonly changeScript: string;
  /** Satoshis for a transaction of so many virtual bytes. */
  fee(vsize: bigint): bigint;
}

/**
 * Chooses the outputs that pay: all required ones, then the smallest that is enough alone, else the largest
 * ones. The choice does not depend on the order of the list. Undefined: all together are not enough. Pure.
 */
export function selectCoins<C extends Coin>(wish: SelectionWish<C>): Selection<C> | undefined {
  const rising = wish.available.toSorted(byAmount);
  if (wish.required.length > 0) {
    const alone = completed(wish, wish.required);
    if (alone !== undefined) return alone;
  }
  for (const coin of rising) {
    const selection = completed(wish, [...wish.required, coin]);
    if (selection !== undefined) return selection;
  }
  const taken: C[] = [...wish.required];
  for (const coin of rising.toReversed()) {
    taken.push(coin);
    const selection = completed(wish, taken);
    if (selection !== undefined) return selection;
  }
  return undefined;
}

function completed<C extends Coin>(wish: SelectionWish<C>, coins: readonly C[]): Selection<C> | undefined {
  const { kind, outputs, changeScript, amount } = wish;
  const total = coins.reduce((sum, coin) => sum + coin.amount, 0n);
  const kinds = coins.map(() => kind);
  const inputs = coins.toSorted(byPlace);
  const change = total - amount - wish.fee(vsizeOf(kinds, [...outputs, changeScript]));
  if (change >= dustLimit(changeScript)) return { inputs, change, fee: total - amount - change };
  const rest = total - amount;
  return rest >= wish.fee(vsizeOf(kinds, outputs)) ? { inputs, change: 0n, fee: rest } : undefined;
}

function byAmount(a: Coin, b: Coin): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return byPlace(a, b);
}

function byPlace(a: Coin, b: Coin): number {
  if (a.txid !== b.txid) return a.txid < b.txid ? -1 : 1;
  return a.vout - b.vout;
}
