import type { Signer } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import type { Services } from "../ports/services.ts";

/** Oracles attest a payment only with the signature of the solver that its order names; undefined: this instance no longer has that key. */
export function orderSignerOf(
  { signer, formerSigners = [] }: Pick<Services, "signer" | "formerSigners">,
  solver: Address,
): Signer | undefined {
  return [signer, ...formerSigners].find(({ address }) => address === solver);
}
