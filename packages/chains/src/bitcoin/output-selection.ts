import { dustLimit, vsizeOf, type InputKind } from "./sizes-and-dust.ts";

/** A spendable output. */
export interface UnspentOutput {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
}

export interface Selection<C extends UnspentOutput> {
  readonly inputs: readonly C[];
  readonly fee: bigint;
  /** Satoshis; 0 if there is no change output because the remainder was added to the fee. */
  readonly change: bigint;
}

export interface SelectionTerms<C extends UnspentOutput> {
  /** Outputs that must be spent. */
  readonly required: readonly C[];
  /** Further outputs to choose from. */
  readonly available: readonly C[];
  readonly kind: InputKind;
  /** Scripts of all outputs except the change. */
  readonly outputs: readonly string[];
  /** Sum of all outputs except the change, satoshis. */
  readonly amount: bigint;
  readonly changeScript: string;
  /** Fee in satoshis for a transaction of this many virtual bytes. */
  fee(vsize: bigint): bigint;
}

/**
 * Selects the outputs to spend: the required ones plus, if needed, the smallest output that suffices,
 * otherwise the largest outputs. Does not depend on the order of the list. Undefined if all outputs together
 * do not suffice. Pure.
 */
export function selectOutputs<C extends UnspentOutput>(terms: SelectionTerms<C>): Selection<C> | undefined {
  const ascending = terms.available.toSorted(byAmount);
  if (terms.required.length > 0) {
    const requiredOnly = completeSelection(terms, terms.required);
    if (requiredOnly !== undefined) return requiredOnly;
  }
  for (const utxo of ascending) {
    const selection = completeSelection(terms, [...terms.required, utxo]);
    if (selection !== undefined) return selection;
  }
  const selected: C[] = [...terms.required];
  for (const utxo of ascending.toReversed()) {
    selected.push(utxo);
    const selection = completeSelection(terms, selected);
    if (selection !== undefined) return selection;
  }
  return undefined;
}

function completeSelection<C extends UnspentOutput>(
  terms: SelectionTerms<C>,
  utxos: readonly C[],
): Selection<C> | undefined {
  const { kind, outputs, changeScript, amount } = terms;
  const total = utxos.reduce((sum, utxo) => sum + utxo.amount, 0n);
  const kinds = utxos.map(() => kind);
  const inputs = utxos.toSorted(byOutpoint);
  const change = total - amount - terms.fee(vsizeOf(kinds, [...outputs, changeScript]));
  if (change >= dustLimit(changeScript)) return { inputs, change, fee: total - amount - change };
  const remainder = total - amount;
  return remainder >= terms.fee(vsizeOf(kinds, outputs)) ? { inputs, change: 0n, fee: remainder } : undefined;
}

function byAmount(a: UnspentOutput, b: UnspentOutput): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return byOutpoint(a, b);
}

function byOutpoint(a: UnspentOutput, b: UnspentOutput): number {
  if (a.txid !== b.txid) return a.txid < b.txid ? -1 : 1;
  return a.vout - b.vout;
}
