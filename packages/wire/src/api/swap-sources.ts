import { z } from "zod";

export const swapSourcesAnswer = z.object({
  sources: z
    .array(z.string())
    .describe(
      "Names for `includedSwapSources` and `excludedSwapSources` of a quote, ordered by preference when several sources offer the same amount; empty if the chain has no swaps.",
    ),
});
export type SwapSourcesAnswer = z.output<typeof swapSourcesAnswer>;
