import type { AttestationHub } from "./attestation-hub.ts";

/** Maximum deposits in a transaction that is attested as a whole: as many as fit into a hub transaction. */
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
