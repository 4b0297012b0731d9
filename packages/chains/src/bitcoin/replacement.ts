import { feeFor } from "./sizes-and-dust.ts";

/** An attempt to replace. */
export interface EarlierAttempt {
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
  earlierAttempts: readonly EarlierAttempt[],
): readonly { readonly txid: string; readonly vout: number }[] {
  const shared = new Map<string, { readonly txid: string; readonly vout: number }>();
  for (const [index, { inputs }] of earlierAttempts.entries()) {
    if (inputs.some((input) => shared.has(outpointKey(input)))) continue;
    for (const input of index === 0 ? inputs : inputs.slice(0, 1)) shared.set(outpointKey(input), input);
  }
  return [...shared.values()];
}

/**
 * Fee in satoshis of a replacement with this many virtual bytes: a higher fee and a higher fee rate than each
 * earlier attempt (BIP 125), and at least `rate`.
 */
export function replacementFee(
  earlierAttempts: readonly EarlierAttempt[],
  vsize: bigint,
  rate: bigint,
): bigint {
  const minFees = earlierAttempts.flatMap((earlier) => [
    earlier.fee + feeFor(vsize, INCREMENT),
    (earlier.fee * vsize) / earlier.vsize + 1n,
  ]);
  return [feeFor(vsize, rate), ...minFees].reduce((max, fee) => (fee > max ? fee : max));
}

export function outpointKey({ txid, vout }: { readonly txid: string; readonly vout: number }): string {
  return `${txid}:${vout}`;
}
