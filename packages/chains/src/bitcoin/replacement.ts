import { feeFor } from "./sizes.ts";

/** An attempt that is to be replaced. */
export interface FormerAttempt {
  readonly txid: string;
  readonly inputs: readonly { readonly txid: string; readonly vout: number }[];
  /** Satoshis. */
  readonly fee: bigint;
  readonly vsize: bigint;
}

/** Satoshis per 1 000 virtual bytes by which nodes want a replacement to pay for its own relay. */
const INCREMENT = 1_000n;

/**
 * Outputs that a replacement must spend so that it conflicts with every former attempt: all that the first
 * one spends, and one more of each that has none of these. Pure.
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
 * Satoshis that a replacement of so many virtual bytes must pay: more in all, and more per byte, than each
 * former attempt (BIP 125), and no less than `rate`.
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
