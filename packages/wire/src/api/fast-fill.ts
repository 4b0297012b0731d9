import { parseDecimal, USD_DECIMALS } from "@causeway/domain";
import { z } from "zod";
import { message } from "../message.ts";
import { errorBody } from "../errors.ts";
import { amount, hash32, transactionId } from "../scalars.ts";

const USD_TEXT = /^\d{1,15}(\.\d{1,18})?$/;
const MUST_BE_USD = 'must be an amount of USD: a number of at least 0, or a decimal string such as "12.5"';

/** USD as a number or its text. The schema does not convert it; {@link usdOfInput} does. */
const usd = z
  .union([z.number(), z.string()], message(MUST_BE_USD))
  .refine((value) => usdOfInput(value) !== undefined, MUST_BE_USD);

/** Body of `POST /fast-fill`. */
export const fastFillRequest = z
  .object(
    {
      requestId: hash32.describe("Request to fill before its deposit arrives."),
      solverInputCurrencyAmount: amount
        .optional()
        .describe(
          "Input amount that prices the fill, in base units. Default and maximum: the quoted deposit or, if the quote swaps before the deposit, its guaranteed minimum. Only the API key that requested the quote may lower it. If the deposit exceeds this amount, the value of the excess is credited to the app balance.",
        ),
      maxFillAmountUsd: usd
        .optional()
        .describe(
          "Maximum value in USD of the fill plus any surplus of its deposit; above it, the fast fill is refused.",
        ),
      txHash: transactionId
        .optional()
        .describe(
          "Hash or id of the origin transaction, mined or not. Required unless it was reported to `/transactions/index`, the service sends it itself, or the key's rules set `allowUnsubmitted`. The fill is refused if the transaction cannot become the agreed deposit. On Solana and Bitcoin, this is known only once the transaction is final; before that, the key needs `allowUnsubmitted`.",
        ),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "FastFillRequest" });

export type FastFillInput = z.infer<typeof fastFillRequest>;

/** Body of every error of `POST /fast-fill`: the usual body, with its code under a second name too. */
export const fastFillError = errorBody
  .extend({ code: z.string().describe("Same as `errorCode`.") })
  .meta({ id: "FastFillError" });

/** Body of the 404 of `POST /fast-fill`. */
export const fastFillUnknown = fastFillError
  .extend({ status: z.literal("unknown") })
  .meta({ id: "FastFillUnknown" });

/** USD with 18 decimals; undefined for an invalid value. */
export function usdOfInput(value: number | string): bigint | undefined {
  if (typeof value === "string") return USD_TEXT.test(value) ? parseDecimal(value, USD_DECIMALS) : undefined;
  return Number.isFinite(value) && value >= 0 && value < 1e15
    ? parseDecimal(String(value), USD_DECIMALS)
    : undefined;
}
