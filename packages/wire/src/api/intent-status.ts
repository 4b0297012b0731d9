import { fundsPlaces, nextActions, publicStatuses } from "@causeway/domain";
import { z } from "zod";
import { answerHash32, hash32, milliseconds } from "../scalars.ts";

const ignored = z.union([z.string(), z.array(z.string())]).optional();

/** Query of the three status paths. */
export const statusQuery = z.object({
  requestId: hash32.describe(
    "The request id of the quote, or the EVM transaction hash of a deposit; not found when the transaction made deposits for several requests.",
  ),
  referrer: ignored.describe("Who asks; informative."),
});

/** One body for `/intents/status`, `/v2` and `/v3`: the union of their fields. */
export const statusAnswer = z
  .object({
    requestId: answerHash32,
    status: z
      .enum(publicStatuses)
      .describe(
        "`success`, `refund` and `failure` end a request. A refund is not preceded by `failure`, unless the deposit came long after a failure for want of one.",
      ),
    details: z.string().optional().describe("Begins with `Transaction failed` on a failure."),
    inTxHashes: z.array(z.string()).describe("Deposits on the origin chain."),
    txHashes: z.array(z.string()).describe("Fills on the destination chain."),
    refundTxHashes: z.array(z.string()).describe("Refunds on the origin chain."),
    updatedAt: milliseconds.describe("ms since epoch."),
    time: milliseconds.describe("Same as `updatedAt`, for older clients."),
    quoteCreatedAt: milliseconds.describe("ms since epoch."),
    originChainId: z.int(),
    destinationChainId: z.int(),
    failReason: z.string().describe("`N/A` unless the request failed or was refunded."),
    refundFailReason: z.string().describe("`N/A` unless a refund was due and failed."),
    final: z
      .boolean()
      .describe(
        "The money lies deeper than any reorg reckoned with: nothing of this answer will change any more.",
      ),
    fundsAt: z.enum(fundsPlaces).describe("Where the user's money is now."),
    nextAction: z
      .enum(nextActions)
      .describe(
        "What happens next and who does it. `quote_again`: the payment deadline has passed. If you have not paid, request a new quote; a payment made in time is still found.",
      ),
    supersededByRequestId: answerHash32
      .optional()
      .describe(
        "Another sum came to the request's deposit address than was quoted: this request was made for it, and all that is told here but the id is told of it.",
      ),
    pollAfterMs: z.int().nonnegative().describe("Ask again after so many ms; 0 when nothing will change."),
  })
  .meta({ id: "IntentStatus" });

export const unknownRequest = z
  .object({
    message: z.string(),
    status: z.literal("unknown"),
    errorCode: z.literal("REQUEST_NOT_FOUND"),
    statusCode: z.literal(404),
    error: z.string(),
    requestId: z.string().optional(),
  })
  .meta({ id: "UnknownRequest" });

export type StatusAnswer = z.infer<typeof statusAnswer>;
