import type { AttestationHub } from "./attestation-chain.ts";

/**
 * Deposits of one execution where a transaction is attested whole: what fits into a transaction of the hub.
 */
export const MAX_WHOLE_DEPOSITS = 256;

/**
 * Whether deposits of a block are attested in parts. A function of the block alone: oracles that disagreed
 * would mint a deposit under two keys.
 */
export function isAttestedInParts(
  { depositPartsSince }: Pick<AttestationHub, "depositPartsSince">,
  timestamp: bigint,
): boolean {
  return depositPartsSince !== undefined && timestamp >= BigInt(depositPartsSince);
}
