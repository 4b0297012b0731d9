import type { Address, Chain } from "@causeway/domain";
import { hasWrongChecksum, NATIVE_CURRENCY, parseAddress } from "@causeway/domain";

export type RecipientResult =
  | { readonly kind: "recipient"; readonly address: Address }
  /** `reason`: a sentence for the operator that starts with the option's name. */
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Validates the recipient of a withdrawal. Refuses addresses where the money would be lost or return to the
 * service: the zero address, the service's contracts (a depository would record a deposit without an owner)
 * and token contracts. Also refuses a wrong EIP-55 checksum, which indicates a typo.
 */
export function recipientOf(text: string, { contracts, tokens, name }: Chain): RecipientResult {
  const refuse = (reason: string): RecipientResult => ({ kind: "refused", reason: `--recipient ${reason}` });
  const address = parseAddress(text);
  if (address === undefined) return refuse("must be an address");
  if (address === NATIVE_CURRENCY) return refuse("must not be the zero address");
  if (hasWrongChecksum(text))
    return refuse("has an invalid EIP-55 checksum; check it for a mistyped digit or case");
  if (address === contracts.depository)
    return refuse(`must not be the depository of ${name}, where the funds would be locked`);
  if (Object.values(contracts).flat().includes(address))
    return refuse("must not be a contract of the service");
  const token = tokens.find((candidate) => candidate.address === address);
  if (token !== undefined)
    return refuse(`must not be the contract of ${token.symbol}, where the funds would be lost`);
  return { kind: "recipient", address };
}
