import { ServiceError } from "@causeway/domain";
import type { Clock } from "../db/clock.port.ts";
import {
  MAX_CREATIONS_PER_DAY,
  MAX_WEBHOOKS_PER_KEY,
  tooManyCreations,
  tooManyWebhooks,
} from "./webhook-limits.ts";
import type { WebhookAdmin, WebhookPolicy, WebhookRegister } from "./webhooks.port.ts";

export interface WebhookServices {
  readonly register: WebhookRegister;
  readonly clock: Clock;
  readonly policy: Pick<WebhookPolicy, "allowPrivate">;
  /** Whether the host of a URL may be public, judging by its text. */
  readonly mayBePublicHost: (hostname: string) => boolean;
  /** Random bytes as URL-safe text. */
  readonly randomText: (bytes: number) => string;
}

/** Webhook administration for the owner of a key. */
export function webhookAdmin(services: WebhookServices): WebhookAdmin {
  const { register, clock, randomText } = services;
  const newSecret = (): string => `whsec_${randomText(32)}`;
  return {
    async create(keyId, { url, label, headers }) {
      checkUrl(services, url);
      const secret = newSecret();
      const atMs = clock.nowMs();
      const waitMs = (await register.nextCreationAtMs(keyId, MAX_CREATIONS_PER_DAY, atMs)) - atMs;
      if (waitMs > 0) throw tooManyCreations(waitMs);
      const input = { id: `wh_${randomText(12)}`, keyId, url, label, headers, secret, atMs };
      const endpoint = await register.create(input, MAX_WEBHOOKS_PER_KEY);
      if (endpoint === undefined) throw tooManyWebhooks();
      return { secret, endpoint };
    },
    list: async (keyId) => await register.list(keyId),
    async rotate(keyId, id, graceSeconds) {
      const [secret, atMs] = [newSecret(), clock.nowMs()];
      const change = { secret, previousUntilMs: atMs + graceSeconds * 1_000, atMs };
      return { secret, endpoint: requireFound(await register.rotate(keyId, id, change)) };
    },
    async remove(keyId, id) {
      if (!(await register.remove(keyId, id, clock.nowMs()))) throw notFound();
    },
    deliveries: async (keyId, id, query) => requireFound(await register.deliveries(keyId, id, query)),
    delivery: async (keyId, id, deliveryId) => requireFound(await register.delivery(keyId, id, deliveryId)),
    replay: async (keyId, id, deliveryId) =>
      requireFound(await register.replay(keyId, id, deliveryId, clock.nowMs())),
  };
}

const notFound = (): ServiceError => new ServiceError("NOT_FOUND", "Webhook or delivery not found");

function requireFound<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

/**
 * Checks the text of a URL. The addresses of its host are checked on every delivery.
 * @throws ServiceError INVALID_REQUEST
 */
function checkUrl({ policy, mayBePublicHost }: WebhookServices, text: string): void {
  const invalidUrl = (reason: string): ServiceError =>
    new ServiceError("INVALID_REQUEST", `url ${reason}`, { field: "url" });
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalidUrl("must be an https URL");
  if (url.username !== "" || url.password !== "")
    throw invalidUrl("must not contain a user name or a password");
  if (policy.allowPrivate) return;
  if (url.protocol !== "https:") throw invalidUrl("must be an https URL");
  if (!mayBePublicHost(url.hostname)) throw invalidUrl("must be on a public host");
}
