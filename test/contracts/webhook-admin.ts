import { expect, test } from "vitest";
import type { WebhookAdmin } from "../../apps/api/src/push/webhooks.port.ts";

/** What every registry of webhooks must guarantee to an owner without webhooks. */
export function emptyWebhookAdminContract(
  name: string,
  make: () => Promise<{ readonly admin: WebhookAdmin; readonly keyId: string }>,
): void {
  test(`${name}: an owner without webhooks has an empty list`, async () => {
    const { admin, keyId } = await make();
    expect(await admin.list(keyId)).toEqual([]);
  });

  test(`${name}: an unknown webhook cannot be rotated, removed, listed or replayed`, async () => {
    const { admin, keyId } = await make();
    const unknown = "00000000-0000-4000-8000-000000000000";
    for (const [action, attempt] of Object.entries({
      rotate: () => admin.rotate(keyId, unknown, 0),
      remove: () => admin.remove(keyId, unknown),
      deliveries: () => admin.deliveries(keyId, unknown, { limit: 10 }),
      delivery: () => admin.delivery(keyId, unknown, 1),
      replay: () => admin.replay(keyId, unknown, 1),
    }))
      await expect(attempt(), action).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
}
