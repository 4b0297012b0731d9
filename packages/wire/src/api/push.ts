import { publicStatuses } from "@causeway/domain";
import { z } from "zod";
import { message } from "../message.ts";
import { hash32, milliseconds } from "../scalars.ts";
import { statusQuery } from "./intent-status.ts";

/** The only event. */
export const STATUS_EVENT = "request.status.updated";

/** What a client sends on the socket. */
export const socketRequest = z.object(
  {
    type: z.enum(["subscribe", "unsubscribe"], message("must be subscribe or unsubscribe")),
    event: z.literal(STATUS_EVENT, message(`must be ${STATUS_EVENT}`)),
    filters: z
      .object({ id: hash32.optional() }, message("must be an object"))
      .optional()
      .describe("Without an id: all requests of the API key that the socket was opened with."),
  },
  message("must be a JSON object"),
);

/** The status of a request on the socket and, as `data`, in webhooks. */
export const statusUpdate = z.object({
  status: z.enum(publicStatuses),
  inTxHashes: z.array(z.string()),
  txHashes: z.array(z.string()),
  refundTxHashes: z.array(z.string()),
  updatedAt: milliseconds,
  originChainId: z.int(),
  destinationChainId: z.int(),
  requestId: z.string(),
  failReason: z.string(),
  refundFailReason: z.string(),
  sequence: z.int().describe("Counts the changes of the request; grows, and may skip a number."),
});

/** An event on the socket. */
export const socketEvent = z.object({
  event: z.literal(STATUS_EVENT),
  data: statusUpdate,
  publishedAt: milliseconds,
});

/** Query of `GET /intents/status/v3/stream`. */
export const streamQuery = statusQuery;

/** Response of the stream to a client that already has the final status. */
export const endOfStream = z.null().describe("There will be no more events.");

export type SocketRequest = z.infer<typeof socketRequest>;
