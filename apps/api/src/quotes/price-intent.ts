import type { PriceAnswer, QuoteInput } from "@causeway/wire";
import type { QuoteKey } from "../balances/sponsors.port.ts";
import { priceQuote, type PriceServices } from "./create-quote.ts";

/**
 * Returns the fees and details of a quote without its steps. Stores nothing, so nothing can be paid.
 * @throws ServiceError with the codes of the client contract, as for a quote
 */
export async function priceIntent(
  services: PriceServices,
  input: QuoteInput,
  keyId?: string,
  key?: QuoteKey,
): Promise<PriceAnswer> {
  const { fees, details, feeSponsorship, warnings } = await priceQuote(services, input, keyId, key);
  return {
    fees,
    details,
    ...(feeSponsorship !== undefined && { feeSponsorship }),
    ...(warnings !== undefined && { warnings }),
  };
}
