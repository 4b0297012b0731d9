import type { EvidenceSource } from "@causeway/chains";
import type { FamilyOf } from "@causeway/attest";
import type { ConfiguredChain } from "@causeway/families";
import { AttestationError, notFound } from "../ports/attestation-error.ts";
import type { AttestedChain, AttestedChains } from "../ports/attested-chains.ts";

/** The chain of that name. @throws AttestationError not_found */
export function requireChain(chains: AttestedChains, name: string, field: string): AttestedChain {
  const attestedChain = chains.get(name);
  if (attestedChain === undefined)
    throw notFound(field, `${field}: chain ${name} is not enabled on this oracle`);
  return attestedChain;
}

/** The family of a chain by name, for hashing. */
export function familyOf(chains: AttestedChains): FamilyOf {
  return (name) => requireChain(chains, name, "chainId").chain.vmType;
}

/**
 * The evidence source of a chain.
 * @throws AttestationError upstream_unavailable if this build cannot read its family, and the signal's reason
 * when aborted
 */
export function evidenceOf({ chain, evidence }: AttestedChain, signal?: AbortSignal): EvidenceSource {
  signal?.throwIfAborted();
  if (evidence === undefined)
    throw new AttestationError(
      "upstream_unavailable",
      `chain ${chain.name} (${chain.vmType}) is not supported by this oracle`,
    );
  return evidence;
}

/** The depository of a chain. @throws AttestationError not_found if none is configured */
export function requireDepository(chain: ConfiguredChain, field: string): string {
  if (chain.depository === undefined)
    throw notFound(field, `${field}: chain ${chain.name} has no depository configured`);
  return chain.depository;
}
