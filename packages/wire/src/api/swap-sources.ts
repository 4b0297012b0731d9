import { z } from "zod";

export const swapSourcesAnswer = z.object({
  sources: z
    .array(z.string())
    .describe(
      "Names for `includedSwapSources` and `excludedSwapSources` of a quote, in the order that breaks ties; empty if the chain has no swaps.",
    ),
});
export type SwapSourcesAnswer = z.output<typeof swapSourcesAnswer>;
