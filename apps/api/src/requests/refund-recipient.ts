import type { Chain, Hex, NonEvmChain } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";

/**
 * Who gets a refund. `refundTo` was named by the request's user; another depositor's money goes to that
 * depositor.
 */
export function refundRecipient(
  { paysFromAnyAddress }: Pick<Chain | NonEvmChain, "paysFromAnyAddress">,
  { terms }: Pick<RequestRecord, "terms">,
  depositor: Hex,
): Hex {
  return depositor === terms.user || paysFromAnyAddress === true ? terms.refundTo : depositor;
}
