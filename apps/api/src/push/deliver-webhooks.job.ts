import type { WebhookPolicy, WebhookQueue } from "./webhooks.port.ts";
import type { DeliveryServices } from "./deliver-webhook.ts";
import { deliverWebhook } from "./deliver-webhook.ts";

/** Concurrent attempts in total, per key and per endpoint: hanging attempts must not block the others. */
const MAX_AT_ONCE = 64;
const MAX_PER_KEY = 16;
const MAX_PER_ENDPOINT = 8;
/** Polling interval: finds retries that are due, and deliveries whose announcement was lost. */
const LOOK_EVERY_MS = 1_000;

/** Added to the attempt's timeout for the lease: recording the outcome takes time, too. */
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
  const underWay = new Set<Promise<void>>();
  let awake = Promise.withResolvers<void>();

  const wake = (): void => awake.resolve();

  function begin(due: Parameters<typeof deliverWebhook>[1]): void {
    const attempt = deliverWebhook(services, due, closing.signal)
      .catch((error: unknown) => events.fault("webhook_fault", error, { deliveryId: due.id }))
      .finally(() => {
        underWay.delete(attempt);
        wake();
      });
    underWay.add(attempt);
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      awake = Promise.withResolvers();
      let taken = 0;
      const limit = MAX_AT_ONCE - underWay.size;
      if (limit > 0)
        try {
          const due = await queue.claim({
            nowMs: clock.nowMs(),
            leaseMs: policy.timeoutMs + LEASE_SLACK_MS,
            perEndpoint: MAX_PER_ENDPOINT,
            perKey: MAX_PER_KEY,
            limit,
          });
          taken = due.length;
          for (const one of due) begin(one);
        } catch (error) {
          events.fault("webhook_fault", error, { part: "claim" });
        }
      // A full batch may have more behind it; otherwise wait for the timer or an announcement.
      if (taken === 0 || underWay.size >= MAX_AT_ONCE) await sleepOrNews();
    }
    await Promise.all(underWay);
  }

  async function sleepOrNews(): Promise<void> {
    const timer = setTimeout(wake, LOOK_EVERY_MS);
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
