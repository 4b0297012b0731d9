import type { Finality } from "../evm/finality.ts";

/**
 * Whether a block is solid: confirmed by more than two thirds of the network's witnesses. Pure.
 *
 * @param block number of the block
 * @param solid number of the newest solid block
 */
export function finalityOf(block: bigint, solid: bigint, blockTimeSeconds: number): Finality {
  const missing = block - solid;
  if (missing <= 0n) return { kind: "final" };
  const blocks = `${missing} ${missing === 1n ? "block" : "blocks"}`;
  return {
    kind: "notFinal",
    reason: `block ${block} is not solid: needs ${blocks} more`,
    retryAfterSeconds: Math.max(1, Math.ceil(Number(missing) * blockTimeSeconds)),
  };
}
