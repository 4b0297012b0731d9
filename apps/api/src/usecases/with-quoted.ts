import type { RequestTerms } from "@causeway/domain";
import type { QuoteAnswer } from "@causeway/wire";

/** The terms with what the answer says beside them, which the history of the request repeats. */
export function withQuoted(terms: RequestTerms, { details }: Pick<QuoteAnswer, "details">): RequestTerms {
  const { timeEstimate: timeEstimateSeconds, slippageTolerance } = details;
  const { total } = slippageTolerance;
  return {
    ...terms,
    quoted: { timeEstimateSeconds, ...(total !== undefined && { slippageBps: Number(total) }) },
  };
}
