import type { Clock } from "../db/clock.port.ts";
import type { Events } from "../db/events.port.ts";
import type { AddressFormat } from "../chains/address-format.port.ts";
import type { DeliveryEnd, DueDelivery, Hmac, WebhookQueue, WebhookSender } from "./webhooks.port.ts";
import { webhookMessage } from "./webhook-message.ts";
import { pauseAfter } from "./webhook-retries.ts";

export interface DeliveryServices {
  readonly queue: Pick<WebhookQueue, "finish">;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly events: Events;
  readonly hmac: Hmac;
  readonly addressFormat: AddressFormat;
  /** Random, from 0 to 1. */
  readonly chance: () => number;
}

/**
 * Makes one attempt and records its outcome. After a crash in between, the attempt is repeated when the lease
 * ends: a receiver may get an event twice, but never misses one. An attempt that is aborted by a shutdown
 * does not count.
 */
export async function deliverWebhook(
  { queue, sender, clock, events, hmac, chance, addressFormat }: DeliveryServices,
  due: DueDelivery,
  signal: AbortSignal,
): Promise<void> {
  const startedAtMs = clock.nowMs();
  const { body, headers } = webhookMessage(due, startedAtMs, hmac, addressFormat);
  const outcome = await sender.send({ url: due.endpoint.url, headers, body, signal });
  if (signal.aborted && outcome.error !== undefined) return;
  const endedAtMs = clock.nowMs();
  const tries = due.tries + 1;
  const facts = {
    deliveryId: due.id,
    endpointId: due.endpoint.id,
    requestId: due.change.record.requestId,
    sequence: due.change.sequence,
    tries,
    status: outcome.status,
  };
  const end = deliveryEnd(outcome.error, tries, endedAtMs, chance());
  const isLeaseHeld = await queue.finish(due, outcome, end, startedAtMs);
  if (!isLeaseHeld) return;
  if (end === "delivered") events.happened("webhook_delivered", { ...facts, tookMs: outcome.tookMs });
  else if (end === "failed") events.alarm("webhook_given_up", { ...facts, reason: outcome.error });
  else events.happened("webhook_refused", { ...facts, reason: outcome.error, againAtMs: end.againAtMs });
}

function deliveryEnd(error: string | undefined, tries: number, nowMs: number, random: number): DeliveryEnd {
  if (error === undefined) return "delivered";
  const pauseMs = pauseAfter(tries, random);
  return pauseMs === undefined ? "failed" : { againAtMs: nowMs + pauseMs };
}
