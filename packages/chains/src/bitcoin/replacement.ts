import { feeFor } from "./sizes-and-dust.ts";

/** An attempt to replace. */
export interface FormerAttempt {
  readonly txid: string;
  readonly inputs: readonly { readonly txid: string; readonly vout: number }[];
  /** Satoshis. */
  readonly fee: bigint;
  readonly vsize: bigint;
}

/** Incremental relay fee: satoshis per 1000 virtual bytes that a replacement must pay in addition. */
const INCREMENT = 1_000n;

/**
 * Outputs that a replacement must spend to conflict with every earlier attempt: all inputs of the first one,
 * and one input of each other attempt that shares none of them. Pure.
 */
export function sharedInputs(
  before: readonly FormerAttempt[],
): readonly { readonly txid: string; readonly vout: number }[] {
  const shared = new Map<string, { readonly txid: string; readonly vout: number }>();
  for (const [at, { inputs }] of before.entries()) {
    if (inputs.some((input) => shared.has(keyOf(input)))) continue;
    for (const input of at === 0 ? inputs : inputs.slice(0, 1)) shared.set(keyOf(input), input);
  }
  return [...shared.values()];
}

/**
 * Fee in satoshis of a replacement with this many virtual bytes: a higher fee and a higher fee rate than each
 * earlier attempt (BIP 125), and at least `rate`.
 */
export function replacementFee(before: readonly FormerAttempt[], vsize: bigint, rate: bigint): bigint {
  const wanted = before.flatMap((former) => [
    former.fee + feeFor(vsize, INCREMENT),
    (former.fee * vsize) / former.vsize + 1n,
  ]);
  return [feeFor(vsize, rate), ...wanted].reduce((max, fee) => (fee > max ? fee : max));
}

export function keyOf({ txid, vout }: { readonly txid: string; readonly vout: number }): string {
  return `${txid}:${vout}`;
}
