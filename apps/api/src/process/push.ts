import type { Lifecycle } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { createHmac, randomBytes } from "node:crypto";
import { announceBeat } from "../db/announcements.postgres.ts";
import { listen } from "../db/listen.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { STATUS_CHANNEL, WEBHOOK_CHANNEL } from "../requests/request-save.postgres.ts";
import { statusEventReads } from "../requests/status-event-reads.postgres.ts";
import { statusFeed } from "../requests/status-feed.postgres.ts";
import { webhookQueue } from "../push/webhook-queue.postgres.ts";
import { webhookRegister } from "../push/webhook-register.postgres.ts";
import { waitingDeliveries } from "../push/webhook-report.postgres.ts";
import { pushGauges } from "../telemetry/push-gauges.ts";
import { webhookGauges } from "../telemetry/webhook-gauges.ts";
import { httpSender } from "../push/http-sender.adapter.ts";
import { mayBePublicHost } from "../push/public-address.adapter.ts";
import type { ApiConfig } from "../config/config.ts";
import { deliverWebhooks } from "../push/deliver-webhooks.job.ts";
import type { PushRoutes } from "../push/push-routes.port.ts";
import type { Services } from "../db/services.port.ts";
import type { StatusFeed } from "../requests/status-feed.port.ts";
import type { WebhookAdmin } from "../push/webhooks.port.ts";
import { connectionPlaces } from "../push/connection-places.ts";
import { followStatus } from "../push/follow-status.ts";
import { inBatches } from "../reconcile/prune-history.ts";
import { webhookAdmin } from "../push/keep-webhooks.ts";
import { spellingOf } from "../chains/address-format.ts";

/** How often the feed announces a heartbeat to itself, to notice when it hears nothing any more. */
const BEAT_MS = 1_000;
/**
 * So many beats after the feed went silent whoever follows it is told so: each comes again then, so that a
 * short stall must not end them all.
 */
const BEATS_UNTIL_LOST = 5;
/** Deliveries, events and removed endpoints are kept so long after they ended. */
const HISTORY_KEPT_MS = 14 * 24 * 3600 * 1000;

interface Dependencies {
  readonly config: Pick<ApiConfig, "database" | "push" | "http">;
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
}

/** What routes push from: the feed of changes, and who listens. */
export function pushRouteServices(
  { clock, events, chains }: Pick<Services, "clock" | "events" | "chains">,
  { config, sql, lifecycle, registry }: Dependencies,
): { readonly push: PushRoutes; readonly feed: StatusFeed } {
  const feed = statusFeed({
    reads: statusEventReads(sql),
    listen: (on) => listen(config.database.url.reveal(), STATUS_CHANNEL, on),
    announce: async (text) => await announceBeat(sql, STATUS_CHANNEL, text),
    events,
    beatMs: BEAT_MS,
    beatsUntilLost: BEATS_UNTIL_LOST,
  });
  lifecycle.add("status feed", () => feed.close());
  const policy = { ...config.push.connections, trustProxy: config.http.trustProxy };
  const sockets = { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 };
  pushGauges(registry, () => ({ ...sockets, ...feed.figures() }));
  return {
    feed,
    push: {
      ...followStatus(feed, clock, spellingOf(chains)),
      places: connectionPlaces(policy),
      policy,
      sockets,
    },
  };
}

/** What the owners of keys ask about their webhooks. */
export function webhookRouteServices(
  { clock }: Pick<Services, "clock">,
  { config, sql }: Pick<Dependencies, "config" | "sql">,
): WebhookAdmin {
  return webhookAdmin({
    register: webhookRegister(sql),
    clock,
    policy: config.push.webhooks,
    mayBePublicHost,
    randomText: (bytes) => randomBytes(bytes).toString("base64url"),
  });
}

/** Delivers webhooks until the lifecycle ends; `prune` forgets what was delivered long ago. */
export function startWebhooks(
  { clock, events, chains }: Pick<Services, "clock" | "events" | "chains">,
  { config, sql, lifecycle, registry }: Dependencies,
): { prune(): Promise<void> } {
  const policy = config.push.webhooks;
  const queue = webhookQueue(sql);
  const sender = httpSender(policy);
  lifecycle.add("webhook connections", () => sender.close());
  const hmac = (secret: string, text: string): string =>
    createHmac("sha256", secret).update(text).digest("hex");
  const delivering = deliverWebhooks({
    queue,
    sender,
    clock,
    events,
    hmac,
    chance: Math.random,
    policy,
    spelling: spellingOf(chains),
  });
  lifecycle.add("webhooks", () => delivering.close());
  const listener = listen(config.database.url.reveal(), WEBHOOK_CHANNEL, {
    onNotice: () => delivering.wake(),
    onFault: (error) => events.fault("webhook_fault", error, { part: "listen" }),
  });
  lifecycle.add("webhook announcements", () => listener.close());
  webhookGauges(registry, () => waitingDeliveries(sql), clock);
  return {
    async prune(): Promise<void> {
      const beforeMs = clock.nowMs() - HISTORY_KEPT_MS;
      await inBatches(clock, (limit) => queue.prune(beforeMs, limit));
    },
  };
}
