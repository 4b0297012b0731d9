import type { WebhookPolicy, WebhookQueue } from "./webhooks.port.ts";
import type { DeliveryServices } from "./deliver-webhook.ts";
import { deliverWebhook } from "./deliver-webhook.ts";

/** Concurrent attempts in total, per key and per endpoint: hanging attempts must not block the others. */
const MAX_CONCURRENT = 64;
const MAX_PER_KEY = 16;
const MAX_PER_ENDPOINT = 8;
/** Polling interval: finds retries that are due, and deliveries whose announcement was lost. */
const POLL_INTERVAL_MS = 1_000;

/**
 * How much longer than the timeout of an attempt its lease lasts, because recording the outcome takes time
 * too.
 */
const LEASE_SLACK_MS = 20_000;

/** Delivers webhooks until it is closed. Any number of processes may do so. */
export function deliverWebhooks(
  services: Omit<DeliveryServices, "queue"> & {
    readonly queue: WebhookQueue;
    readonly policy: Pick<WebhookPolicy, "timeoutMs">;
  },
): { wake(): void; close(): Promise<void> } {
  const { queue, clock, events, policy } = services;
  const closing = new AbortController();
  const attempts = new Set<Promise<void>>();
  let awake = Promise.withResolvers<void>();

  const wake = (): void => awake.resolve();

  function begin(due: Parameters<typeof deliverWebhook>[1]): void {
    const attempt = deliverWebhook(services, due, closing.signal)
      .catch((error: unknown) => events.fault("webhook_fault", error, { deliveryId: due.id }))
      .finally(() => {
        attempts.delete(attempt);
        wake();
      });
    attempts.add(attempt);
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      awake = Promise.withResolvers();
      let claimed = 0;
      const limit = MAX_CONCURRENT - attempts.size;
      if (limit > 0)
        try {
          const due = await queue.claim({
            nowMs: clock.nowMs(),
            leaseMs: policy.timeoutMs + LEASE_SLACK_MS,
            perEndpoint: MAX_PER_ENDPOINT,
            perKey: MAX_PER_KEY,
            limit,
          });
          claimed = due.length;
          for (const delivery of due) begin(delivery);
        } catch (error) {
          events.fault("webhook_fault", error, { part: "claim" });
        }
      // After a batch, more deliveries may be due: claim again. Otherwise, wait for the timer or an
      // announcement.
      if (claimed === 0 || attempts.size >= MAX_CONCURRENT) await sleepUntilWake();
    }
    await Promise.all(attempts);
  }

  async function sleepUntilWake(): Promise<void> {
    const timer = setTimeout(wake, POLL_INTERVAL_MS);
    await awake.promise;
    clearTimeout(timer);
  }

  const running = loop();
  return {
    wake,
    async close(): Promise<void> {
      closing.abort();
      wake();
      await running;
    },
  };
}
