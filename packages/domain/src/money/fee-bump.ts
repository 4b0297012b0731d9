/**
 * How much a replacement raises the fees of a transaction, in bps. Nodes refuse replacements that raise them
 * by less than 10 %, some by less than 12.5 %.
 */
export const FEE_BUMP_BPS = 1_250;

/** The lowest fee of a replacement that nodes accept, in wei per gas. */
export function bumpedFee(wei: bigint): bigint {
  return (wei * BigInt(10_000 + FEE_BUMP_BPS)) / 10_000n + 1n;
}
