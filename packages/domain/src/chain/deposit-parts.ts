import type { AttestationHub } from "./attestation-hub.ts";

/** Maximum deposits of a transaction attested as a whole: what fits into a hub transaction. */
export const MAX_WHOLE_DEPOSITS = 256;

/**
 * Whether deposits of a block are attested in parts. Depends on the block alone: if oracles disagreed, a
 * deposit could be minted under two keys.
 */
export function isAttestedInParts(
  { depositPartsSince }: Pick<AttestationHub, "depositPartsSince">,
  timestamp: bigint,
): boolean {
  return depositPartsSince !== undefined && timestamp >= BigInt(depositPartsSince);
}
