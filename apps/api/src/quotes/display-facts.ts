import type { QuotedFee, QuotedFees, RequestTerms } from "@causeway/domain";
import type { AmountObject, QuoteAnswer } from "@causeway/wire";

type QuoteFacts = Pick<QuoteAnswer, "details" | "fees">;

/** Adds display facts of the answer to the terms, for the history of the request. */
export function withDisplayFacts(terms: RequestTerms, { details, fees }: QuoteFacts): RequestTerms {
  const { timeEstimate: timeEstimateSeconds, slippageTolerance, currencyOut } = details;
  const { total } = slippageTolerance;
  return {
    ...terms,
    quoted: {
      timeEstimateSeconds,
      ...(total !== undefined && { slippageBps: Number(total) }),
      // "0" means that the price is unknown.
      ...(currencyOut.amountUsd !== "0" && { outputUsd: currencyOut.amountUsd }),
      fees: toQuotedFees(fees, details),
    },
  };
}

function toQuotedFees(
  { relayerGas, relayerService, app, subsidized }: QuoteAnswer["fees"],
  { expandedPriceImpact: { swap } }: QuoteAnswer["details"],
): QuotedFees {
  return {
    execution: toQuotedFee(relayerGas),
    service: toQuotedFee(relayerService),
    ...(app.amount !== "0" && { app: toQuotedFee(app) }),
    ...(subsidized.amount !== "0" && { sponsored: toQuotedFee(subsidized) }),
    swapImpactUsd: swap.usd,
  };
}

function toQuotedFee({ amount, amountUsd: usd }: AmountObject): QuotedFee {
  return { amount, usd };
}
