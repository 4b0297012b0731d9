import type { Address } from "@causeway/domain";
import type { Account } from "../db/services.port.ts";

/**
 * The solver that an order names: oracles attest a payment only with its signature. Undefined: this instance
 * no longer has that key. The returned key can sign only if the given keys can: the API knows former keys by
 * address only.
 */
export function orderSignerOf<Key extends Account>(
  { signer, formerSigners }: { readonly signer: Key; readonly formerSigners: readonly Key[] },
  solver: Address,
): Key | undefined {
  return [signer, ...formerSigners].find(({ address }) => address === solver);
}
