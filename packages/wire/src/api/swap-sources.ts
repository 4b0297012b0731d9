import { z } from "zod";

export const swapSourcesAnswer = z.object({
  sources: z
    .array(z.string())
    .describe(
      "Names for `includedSwapSources` and `excludedSwapSources` of a quote, in the order in which they win ties; none where nothing is swapped.",
    ),
});
export type SwapSourcesAnswer = z.output<typeof swapSourcesAnswer>;
