import { ServiceError } from "@causeway/domain";
import type { WebhookAdmin } from "../../apps/api/src/push/webhooks.port.ts";

/** A webhook registry without webhooks. */
export function fakeWebhooks(overrides: Partial<WebhookAdmin> = {}): WebhookAdmin {
  const none = (): Promise<never> =>
    Promise.reject(new ServiceError("NOT_FOUND", "Webhook or delivery not found"));
  return {
    create: none,
    list: async () => [],
    rotate: none,
    remove: none,
    deliveries: none,
    delivery: none,
    replay: none,
    ...overrides,
  };
}
