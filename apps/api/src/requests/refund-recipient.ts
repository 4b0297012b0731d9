import type { Chain, Hex, NonEvmChain } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";

/**
 * The recipient of a refund: `refundTo` if the request's user deposited, or on chains that allow payments
 * from any address; otherwise the depositor, because `refundTo` is the user's choice.
 */
export function refundRecipient(
  { paysFromAnyAddress }: Pick<Chain | NonEvmChain, "paysFromAnyAddress">,
  { terms }: Pick<RequestRecord, "terms">,
  depositor: Hex,
): Hex {
  return depositor === terms.user || paysFromAnyAddress === true ? terms.refundTo : depositor;
}
