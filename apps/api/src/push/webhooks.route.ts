import type { WebhookAnswer, WebhookDeliveryAnswer } from "@causeway/wire";
import {
  createWebhookRequest,
  deliveriesQuery,
  issuedWebhookAnswer,
  rotateWebhookRequest,
  webhookDeliveriesAnswer,
  webhookDeliveryAnswer,
  webhookDeliveryLogAnswer,
  webhookDeliveryParams,
  webhookParams,
  webhooksAnswer,
} from "@causeway/wire";
import { z } from "zod";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { WebhookAdmin, WebhookDelivery, WebhookEndpoint } from "./webhooks.port.ts";
import { requireSecretKey } from "../http/access.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";

const PAGE = 100;

/**
 * `/webhooks`: lets the owner of a key manage webhooks and see their deliveries.
 */
export function webhookRoutes(app: TypedServer, { webhooks }: { readonly webhooks: WebhookAdmin }): void {
  const config = { access: { kind: "key", scope: "read" } } as const;
  const tags = ["webhooks"];
  const failures = errors(400, 401, 403, 404, 413, 415, 429, 500, 503);

  app.post(
    "/webhooks",
    {
      config,
      schema: {
        tags,
        operationId: "createWebhook",
        summary: "Create a webhook for changes of the key's requests; its secret is shown only once",
        body: createWebhookRequest,
        response: { 200: issuedWebhookAnswer, ...failures },
      },
    },
    async ({ apiKey, body }) => {
      const { secret, endpoint } = await webhooks.create(owner(apiKey), body);
      return { secret, webhook: endpointJson(endpoint) };
    },
  );

  app.get(
    "/webhooks",
    {
      config,
      schema: {
        tags,
        operationId: "listWebhooks",
        summary: "List the API key's webhooks",
        response: { 200: webhooksAnswer, ...errors(401, 403, 429, 500, 503) },
      },
    },
    async ({ apiKey }) => ({ webhooks: (await webhooks.list(owner(apiKey))).map(endpointJson) }),
  );

  app.post(
    "/webhooks/:id/rotate",
    {
      config,
      schema: {
        tags,
        operationId: "rotateWebhookSecret",
        summary: "Rotate a webhook's secret; deliveries are also signed with the old one for `graceSeconds`",
        params: webhookParams,
        body: rotateWebhookRequest,
        response: { 200: issuedWebhookAnswer, ...failures },
      },
    },
    async ({ apiKey, params, body }) => {
      const { id } = params;
      const { secret, endpoint } = await webhooks.rotate(owner(apiKey), id, body.graceSeconds);
      return { secret, webhook: endpointJson(endpoint) };
    },
  );

  app.delete(
    "/webhooks/:id",
    {
      config,
      schema: {
        tags,
        operationId: "deleteWebhook",
        summary: "Delete a webhook and abandon its pending deliveries",
        params: webhookParams,
        response: { 200: z.object({ message: z.string() }), ...failures },
      },
    },
    async ({ apiKey, params }) => {
      await webhooks.remove(owner(apiKey), params.id);
      return { message: "Webhook deleted" };
    },
  );

  app.get(
    "/webhooks/:id/deliveries",
    {
      config,
      schema: {
        tags,
        operationId: "listWebhookDeliveries",
        summary: "List deliveries, newest first",
        params: webhookParams,
        querystring: deliveriesQuery,
        response: { 200: webhookDeliveriesAnswer, ...failures },
      },
    },
    async ({ apiKey, params, query }) => {
      const { state, before, requestId } = query;
      const filter = {
        state,
        requestId: requestId?.toLowerCase(),
        before: before === undefined ? undefined : Number(before),
        limit: PAGE,
      };
      const deliveries = await webhooks.deliveries(owner(apiKey), params.id, filter);
      return { deliveries: deliveries.map(deliveryJson) };
    },
  );

  app.get(
    "/webhooks/:id/deliveries/:deliveryId",
    {
      config,
      schema: {
        tags,
        operationId: "getWebhookDelivery",
        summary: "Get a delivery with all its attempts",
        params: webhookDeliveryParams,
        response: { 200: webhookDeliveryLogAnswer, ...failures },
      },
    },
    async ({ apiKey, params }) => {
      const { id, deliveryId } = params;
      const delivery = await webhooks.delivery(owner(apiKey), id, Number(deliveryId));
      return {
        ...deliveryJson(delivery),
        log: delivery.log.map(({ n, atMs, tookMs, status, error, response }) => ({
          attempt: n,
          at: atMs,
          tookMs,
          statusCode: status ?? null,
          error: error ?? null,
          response: response ?? null,
        })),
      };
    },
  );

  app.post(
    "/webhooks/:id/deliveries/:deliveryId/replay",
    {
      config,
      schema: {
        tags,
        operationId: "replayWebhookDelivery",
        summary: "Replay a delivery, with all retries",
        params: webhookDeliveryParams,
        response: { 200: webhookDeliveryAnswer, ...failures },
      },
    },
    async ({ apiKey, params }) => {
      const { id, deliveryId } = params;
      return deliveryJson(await webhooks.replay(owner(apiKey), id, Number(deliveryId)));
    },
  );
}

/** Id of the caller's key. */
function owner(apiKey: ApiKeyIdentity | undefined): string {
  return requireSecretKey({ apiKey }, "read", "manage webhooks").id;
}

function endpointJson(endpoint: WebhookEndpoint): WebhookAnswer {
  return {
    id: endpoint.id,
    url: endpoint.url,
    label: endpoint.label,
    headerNames: [...endpoint.headerNames],
    createdAt: endpoint.createdAtMs,
    updatedAt: endpoint.updatedAtMs,
    previousSecretUntil: endpoint.previousUntilMs ?? null,
    failingSince: endpoint.failingSinceMs ?? null,
    lastError: endpoint.lastError ?? null,
    lastDeliveredAt: endpoint.lastDeliveredAtMs ?? null,
    waiting: endpoint.waiting,
    failed: endpoint.failed,
  };
}

function deliveryJson(delivery: WebhookDelivery): WebhookDeliveryAnswer {
  return {
    id: String(delivery.id),
    requestId: delivery.requestId,
    sequence: delivery.sequence,
    state: delivery.state,
    attempts: delivery.attempts,
    nextAttemptAt: delivery.nextAtMs ?? null,
    createdAt: delivery.createdAtMs,
    endedAt: delivery.endedAtMs ?? null,
  };
}
