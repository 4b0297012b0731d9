import { fundsPlaces, nextActions, publicStatuses } from "@causeway/domain";
import { z } from "zod";
import { answerHash32, hash32, milliseconds } from "../scalars.ts";

const ignored = z.union([z.string(), z.array(z.string())]).optional();

/** Query of the three status paths. */
export const statusQuery = z.object({
  requestId: hash32.describe(
    "Request id of the quote, or EVM transaction hash of a deposit. 404 if the transaction deposited for several requests.",
  ),
  referrer: ignored.describe("Name of the calling app; informational."),
});

/** One body for `/intents/status`, `/v2` and `/v3`: the union of their fields. */
export const statusAnswer = z
  .object({
    requestId: answerHash32,
    status: z
      .enum(publicStatuses)
      .describe(
        "`success`, `refund` and `failure` are terminal, with one exception: a `failure` for a missing deposit can still become a `refund` if the deposit arrives much later.",
      ),
    details: z.string().optional().describe("Starts with `Transaction failed` if the request failed."),
    inTxHashes: z.array(z.string()).describe("Deposit transactions on the origin chain."),
    txHashes: z.array(z.string()).describe("Fill transactions on the destination chain."),
    refundTxHashes: z.array(z.string()).describe("Refund transactions on the origin chain."),
    updatedAt: milliseconds.describe("ms since epoch."),
    time: milliseconds.describe("Same as `updatedAt`; kept for older clients."),
    quoteCreatedAt: milliseconds.describe("ms since epoch."),
    originChainId: z.int(),
    destinationChainId: z.int(),
    failReason: z.string().describe("`N/A` unless the request failed or was refunded."),
    refundFailReason: z.string().describe("`N/A` unless a refund was due and failed."),
    final: z
      .boolean()
      .describe("Whether all transfers are final. If true, this response never changes again."),
    fundsAt: z.enum(fundsPlaces).describe("Where the user's funds are now."),
    nextAction: z
      .enum(nextActions)
      .describe(
        "What happens next, and who acts. `send_deposit`: the user carries out the steps of the quote. `send_payment`: the user sends the payment of a same-chain request, which goes to the recipient itself. `quote_again`: the payment deadline has passed. If you have not paid, request a new quote; a payment made in time is still detected.",
      ),
    heldReason: z
      .string()
      .optional()
      .describe(
        "Why the next payment waits: the operator has paused the route, or the operator's policy does not allow the payment now. Absent otherwise. If a fill still waits at its deadline, the deposit is refunded.",
      ),
    supersededByRequestId: answerHash32
      .optional()
      .describe(
        "Id of the request created for the payment that the deposit address received, if that payment differs from the quote. All other fields except `requestId` then describe that request.",
      ),
    pollAfterMs: z
      .int()
      .nonnegative()
      .describe("Milliseconds to wait before the next poll; 0 if nothing will change."),
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
