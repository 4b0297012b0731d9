import type { EvmFinality } from "@causeway/domain";
import type { BlockRef } from "./port.ts";

/**
 * When a block counts as irreversible. Depends on the chain's own numbers and times, not on our clock.
 */

export type Finality =
  | { readonly kind: "final" }
  /** A description of what is missing, and the nominal time until it is reached. */
  | { readonly kind: "notFinal"; readonly reason: string; readonly retryAfterSeconds: number };

/** The block tag of the head that {@link finalityOf} requires. */
export function headTagOf(policy: EvmFinality): "finalized" | "latest" {
  return policy.kind === "tag" ? "finalized" : "latest";
}

/**
 * Whether `block` is final.
 *
 * `head` is the block with the tag {@link headTagOf}, read from the same node at the same time. The caller
 * must ensure that `block` is its ancestor.
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
 * The next height to try if `block` is not final yet: lower by as many blocks as the missing time takes
 * at the nominal block time. Undefined below the first block.
 */
export function lowerCandidate(
  policy: Extract<EvmFinality, { kind: "depth" }>,
  block: Pick<BlockRef, "number" | "timestamp">,
  head: Pick<BlockRef, "number" | "timestamp">,
  blockTimeSeconds: number,
): bigint | undefined {
  const maxFinalHeight = head.number - policy.blocks;
  const missingSeconds = Number(policy.seconds - (head.timestamp - block.timestamp));
  const steps = BigInt(Math.max(1, Math.ceil(missingSeconds / blockTimeSeconds)));
  const lower = block.number - steps < maxFinalHeight ? block.number - steps : maxFinalHeight;
  return lower < 0n ? undefined : lower;
}
