import type { EvmFinality } from "@causeway/domain";
import type { BlockRef } from "./port.ts";

/** When a block counts as irreversible. Pure: the chain's own numbers and times decide, no clock of ours. */

export type Finality =
  | { readonly kind: "final" }
  /** How much is missing, in words, and the nominal time until it is there. */
  | { readonly kind: "notFinal"; readonly reason: string; readonly retryAfterSeconds: number };

/** Which head {@link finalityOf} wants: the tag that the node is asked for. */
export function headTagOf(policy: EvmFinality): "finalized" | "latest" {
  return policy.kind === "tag" ? "finalized" : "latest";
}

/**
 * Whether `block` is final.
 *
 * `head` is the block that the same node tagged {@link headTagOf} in the same breath; that `block` is its
 * ancestor is for the caller to establish.
 */
export function finalityOf(
  policy: EvmFinality,
  block: Pick<BlockRef, "number" | "timestamp">,
  head: Pick<BlockRef, "number" | "timestamp">,
  blockTimeSeconds: number,
): Finality {
  const blocks = (policy.kind === "tag" ? 0n : policy.blocks) - (head.number - block.number);
  const seconds = policy.kind === "tag" ? 0n : policy.seconds - (head.timestamp - block.timestamp);
  if (blocks <= 0n && seconds <= 0n) return { kind: "final" };
  const missing: string[] = [];
  if (blocks > 0n) missing.push(`${blocks} ${blocks === 1n ? "block" : "blocks"}`);
  if (seconds > 0n) missing.push(`${seconds} s`);
  const wait = Math.max(Number(blocks) * blockTimeSeconds, Number(seconds), 1);
  return {
    kind: "notFinal",
    reason: `block ${block.number} is not final: needs ${missing.join(" and ")} more`,
    retryAfterSeconds: Math.ceil(wait),
  };
}

/**
 * The next height to look at for a final block, when `block` is not final yet: as far below as the missing
 * time takes at the nominal pace. Undefined below the first block.
 */
export function lowerCandidate(
  policy: Extract<EvmFinality, { kind: "depth" }>,
  block: Pick<BlockRef, "number" | "timestamp">,
  head: Pick<BlockRef, "number" | "timestamp">,
  blockTimeSeconds: number,
): bigint | undefined {
  const deepEnough = head.number - policy.blocks;
  const lacking = Number(policy.seconds - (head.timestamp - block.timestamp));
  const steps = BigInt(Math.max(1, Math.ceil(lacking / blockTimeSeconds)));
  const lower = block.number - steps < deepEnough ? block.number - steps : deepEnough;
  return lower < 0n ? undefined : lower;
}
