import type { z } from "zod";
import { deprecation } from "./deprecation.ts";
import { quoteAnswer } from "./quote-answer.ts";

/** What `POST /price` tells of a quote: prices, no steps and no promise. */
export const priceAnswer = quoteAnswer
  .pick({ fees: true, feeSponsorship: true, details: true, warnings: true })
  .extend({ deprecation })
  .meta({ id: "PriceAnswer" });

export type PriceAnswer = Omit<z.infer<typeof priceAnswer>, "deprecation">;
