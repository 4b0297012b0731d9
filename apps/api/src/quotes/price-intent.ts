import type { PriceAnswer, QuoteInput } from "@causeway/wire";
import { createQuote } from "./create-quote.ts";
import type { QuoteServices } from "./create-quote.ts";
import type { AskingKey } from "../balances/sponsors.port.ts";

/**
 * What {@link createQuote} would answer, without storing the terms: nothing can be paid for.
 * @throws ServiceError with the codes of the public contract, as for a quote
 */
export async function priceIntent(
  services: QuoteServices,
  input: QuoteInput,
  keyId?: string,
  key?: AskingKey,
): Promise<PriceAnswer> {
  const { fees, details, feeSponsorship, warnings } = await createQuote(
    { ...services, requests: { insertQuoted: async () => undefined } },
    { ...input, includeProtocolData: false },
    keyId,
    key,
  );
  return {
    fees,
    details,
    ...(feeSponsorship !== undefined && { feeSponsorship }),
    ...(warnings !== undefined && { warnings }),
  };
}
