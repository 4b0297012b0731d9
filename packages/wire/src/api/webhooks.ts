import { z } from "zod";
import { message, strictMessage } from "../message.ts";
import { count, hash32, milliseconds, text } from "../scalars.ts";

const MAX_URL_LENGTH = 2_048;
const MAX_HEADERS = 10;
/** Postgres text cannot contain NUL, and other control characters are not displayed. */
const NO_CONTROLS = /^[^\p{Cc}]*$/u;
/** Header names that every delivery or its connection already uses. */
const OWN_HEADERS =
  /^(content-|x-signature-|x-webhook-|(host|connection|transfer-encoding|expect|upgrade|te|trailer|keep-alive|user-agent)$)/;

/** Body of `POST /webhooks`. */
export const createWebhookRequest = z
  .strictObject(
    {
      url: text(MAX_URL_LENGTH)
        .min(1, "must not be empty")
        .regex(NO_CONTROLS, "must not contain control characters")
        .describe("URL that receives the events: https, on a public host."),
      label: text(128).regex(NO_CONTROLS, "must not contain control characters").default(""),
      headers: z
        .record(
          text(64).regex(/^[a-z0-9-]+$/, "must be header names in lower case"),
          text(1_024).regex(/^[\x20-\x7e]*$/, "must be printable ASCII"),
          message("must be an object of headers"),
        )
        .refine(
          (headers) => Object.keys(headers).length <= MAX_HEADERS,
          `must have at most ${MAX_HEADERS} entries`,
        )
        .refine(
          (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
          "must not override a standard header of deliveries",
        )
        .default({})
        .describe("Extra headers for every delivery. Their values are never returned."),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "CreateWebhookRequest" });

/** Body of `POST /webhooks/{id}/rotate`. */
export const rotateWebhookRequest = z
  .strictObject(
    {
      graceSeconds: count("seconds")
        .max(30 * 86_400, "must be at most 30 days")
        .default(86_400)
        .describe(
          "Seconds for which deliveries are also signed with the old secret, in X-Signature-SHA256-Previous.",
        ),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "RotateWebhookRequest" });

export const webhookParams = z.object({
  id: text(64).regex(/^wh_[\w-]{16}$/, "must be the id of a webhook"),
});
export const webhookDeliveryParams = webhookParams.extend({
  deliveryId: text(16).regex(/^\d{1,15}$/, "must be the id of a delivery"),
});
const deliveryState = z.enum(
  ["waiting", "delivered", "failed"],
  message("must be waiting, delivered or failed"),
);
export const deliveriesQuery = z.object({
  state: deliveryState.optional(),
  requestId: hash32.optional(),
  before: text(16)
    .regex(/^\d{1,15}$/, "must be the id of a delivery")
    .optional()
    .describe("Only deliveries before this id; use it to get the next page."),
});

export const webhookAnswer = z
  .object({
    id: z.string(),
    url: z.string(),
    label: z.string(),
    headerNames: z.array(z.string()),
    createdAt: milliseconds,
    updatedAt: milliseconds,
    previousSecretUntil: milliseconds
      .nullable()
      .describe("Deliveries are also signed with the previous secret until this time."),
    failingSince: milliseconds
      .nullable()
      .describe("Time since which every attempt has failed. The endpoint stays enabled."),
    lastError: z.string().nullable(),
    lastDeliveredAt: milliseconds.nullable(),
    waiting: z.int().describe("Number of deliveries waiting for their first or next attempt."),
    failed: z.int().describe("Number of abandoned deliveries, which can be replayed."),
  })
  .meta({ id: "Webhook" });
export const issuedWebhookAnswer = z
  .object({
    secret: z.string().describe("Secret that signs deliveries. It is shown only once."),
    webhook: webhookAnswer,
  })
  .meta({ id: "IssuedWebhook" });
export const webhooksAnswer = z.object({ webhooks: z.array(webhookAnswer) }).meta({ id: "Webhooks" });

export const webhookDeliveryAnswer = z
  .object({
    id: z.string().describe("Sent as X-Webhook-Id with every attempt."),
    requestId: z.string(),
    sequence: z.int(),
    state: deliveryState,
    attempts: z.int(),
    nextAttemptAt: milliseconds.nullable(),
    createdAt: milliseconds,
    endedAt: milliseconds.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export const webhookDeliveriesAnswer = z
  .object({ deliveries: z.array(webhookDeliveryAnswer).describe("Newest first.") })
  .meta({ id: "WebhookDeliveries" });
export const webhookDeliveryLogAnswer = webhookDeliveryAnswer
  .extend({
    log: z.array(
      z.object({
        attempt: z.int(),
        at: milliseconds,
        tookMs: z.int(),
        statusCode: z.int().nullable(),
        error: z.string().nullable(),
        response: z.string().nullable().describe("Beginning of the response body."),
      }),
    ),
  })
  .meta({ id: "WebhookDeliveryLog" });

export type WebhookAnswer = z.infer<typeof webhookAnswer>;
export type WebhookDeliveryAnswer = z.infer<typeof webhookDeliveryAnswer>;
