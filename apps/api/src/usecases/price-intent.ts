import type { PriceAnswer, QuoteInput } from "@causeway/wire";
import { createQuote } from "./create-quote.ts";
import type { QuoteServices } from "./create-quote.ts";

/**
 * What {@link createQuote} would answer without its promise: nothing is stored, so that nothing can be paid for.
 * @throws ServiceError with the codes of the client contract, the same as for a quote
 */
export async function priceIntent(
  services: QuoteServices,
  input: QuoteInput,
  keyId?: string,
): Promise<PriceAnswer> {
  const { fees, details } = await createQuote(
    { ...services, requests: { insertQuoted: async () => undefined } },
    { ...input, includeProtocolData: false },
    keyId,
  );
  return { fees, details };
}
