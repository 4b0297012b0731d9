import type { z } from "zod";
import { deprecation } from "./deprecation.ts";
import { quoteAnswer } from "./quote-answer.ts";

/** The part of a quote that `POST /price` returns: prices, without steps and without a guarantee. */
export const priceAnswer = quoteAnswer
  .pick({ fees: true, feeSponsorship: true, details: true, warnings: true })
  .extend({ deprecation })
  .meta({ id: "PriceAnswer" });

export type PriceAnswer = Omit<z.infer<typeof priceAnswer>, "deprecation">;
