import type { AttestationHub } from "./attestation-hub.ts";

/** Maximum deposits per execution where a transaction is attested whole: what fits into a hub transaction. */
export const MAX_WHOLE_DEPOSITS = 256;

/**
 * Whether deposits of a block are attested in parts. Depends on the block alone: oracles that disagreed would
 * mint a deposit under two keys.
 */
export function isAttestedInParts(
  { depositPartsSince }: Pick<AttestationHub, "depositPartsSince">,
  timestamp: bigint,
): boolean {
  return depositPartsSince !== undefined && timestamp >= BigInt(depositPartsSince);
}
