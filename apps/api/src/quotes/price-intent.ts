import type { PriceAnswer, QuoteInput } from "@causeway/wire";
import type { QuotingKey } from "../balances/sponsors.port.ts";
import { priceQuote, type PriceServices } from "./create-quote.ts";

/**
 * Returns the fees and details of a quote without its steps. Stores nothing, so nothing can be paid.
 * @throws ServiceError with the codes of the client contract, as for a quote
 */
export async function priceIntent(
  services: PriceServices,
  input: QuoteInput,
  keyId?: string,
  key?: QuotingKey,
): Promise<PriceAnswer> {
  const { fees, details, feeSponsorship, warnings } = await priceQuote(services, input, keyId, key);
  return {
    fees,
    details,
    ...(feeSponsorship !== undefined && { feeSponsorship }),
    ...(warnings !== undefined && { warnings }),
  };
}
