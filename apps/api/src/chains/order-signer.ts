import type { Address } from "@causeway/domain";
import type { Account } from "../db/services.port.ts";

/**
 * Oracles attest a payment only with the signature of the solver that its order names; undefined: this
 * instance no longer has that key. What is returned can sign where the keys given can: the API knows former
 * keys by their addresses alone.
 */
export function orderSignerOf<Key extends Account>(
  { signer, formerSigners }: { readonly signer: Key; readonly formerSigners: readonly Key[] },
  solver: Address,
): Key | undefined {
  return [signer, ...formerSigners].find(({ address }) => address === solver);
}
