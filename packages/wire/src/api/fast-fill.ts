import { parseDecimal, USD_DECIMALS } from "@causeway/domain";
import { z } from "zod";
import { because } from "../because.ts";
import { errorBody } from "../errors.ts";
import { amount, hash32 } from "../scalars.ts";

const USD_TEXT = /^\d{1,15}(\.\d{1,18})?$/;
const MUST_BE_USD = 'must be USD: a number of at least 0, or its decimal digits in a string, e.g. "12.5"';

/** USD that clients send as a number or as its text. It stays as it came; {@link usdOfInput} reads it. */
const usd = z
  .union([z.number(), z.string()], because(MUST_BE_USD))
  .refine((value) => usdOfInput(value) !== undefined, MUST_BE_USD);

/** Body of `POST /fast-fill`. */
export const fastFillRequest = z
  .object(
    {
      requestId: hash32.describe("The request to fill before its deposit is there."),
      solverInputCurrencyAmount: amount
        .optional()
        .describe(
          "Smallest units of the input that the fill is priced on; at most what was quoted, which is the default; less only for the API key that asked for the quote. What the deposit is worth more is credited to the app balance.",
        ),
      maxFillAmountUsd: usd.optional().describe("The fill is refused when it is worth more, in USD."),
      txHash: hash32
        .optional()
        .describe(
          "The origin transaction, mined or not. Required unless it was reported to `/transactions/index`, the service sends it itself, or the key's rules say `allowUnsubmitted`. The fill is refused when the transaction cannot become the agreed deposit.",
        ),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "FastFillRequest" });

export type FastFillInput = z.infer<typeof fastFillRequest>;

/** Body of every error of `POST /fast-fill`: the usual one, its code under a second name too. */
export const fastFillError = errorBody
  .extend({ code: z.string().describe("The same as `errorCode`.") })
  .meta({ id: "FastFillError" });

/** Body of the 404 of `POST /fast-fill`. */
export const fastFillUnknown = fastFillError
  .extend({ status: z.literal("unknown") })
  .meta({ id: "FastFillUnknown" });

/** USD with 18 decimals; undefined when the value is none. */
export function usdOfInput(value: number | string): bigint | undefined {
  if (typeof value === "string") return USD_TEXT.test(value) ? parseDecimal(value, USD_DECIMALS) : undefined;
  return Number.isFinite(value) && value >= 0 && value < 1e15
    ? parseDecimal(String(value), USD_DECIMALS)
    : undefined;
}
