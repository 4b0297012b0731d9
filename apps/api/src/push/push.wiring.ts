import type { Lifecycle } from "@causeway/service-kit";
import { createHmac, randomBytes } from "node:crypto";
import { addressFormatOf } from "../chains/index.ts";
import type { ApiConfig } from "../config/config.ts";
import { announceBeat } from "../db/announcements.postgres.ts";
import { listen } from "../db/listen.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { Services } from "../db/services.port.ts";
import { inBatches } from "../reconcile/index.ts";
import { STATUS_CHANNEL, WEBHOOK_CHANNEL } from "../requests/request-save.postgres.ts";
import { statusEventReads } from "../requests/status-event-reads.postgres.ts";
import { statusFeed } from "../requests/status-feed.postgres.ts";
import { connectionLimits } from "./connection-limits.ts";
import { deliverWebhooks } from "./deliver-webhooks.job.ts";
import { followStatus } from "./follow-status.ts";
import { httpSender } from "./http-sender.adapter.ts";
import { webhookAdmin } from "./manage-webhooks.ts";
import { mayBePublicHost } from "./public-address.adapter.ts";
import type { StatusPush } from "./status-push.port.ts";
import { webhookQueue } from "./webhook-queue.postgres.ts";
import { webhookRegister } from "./webhook-register.postgres.ts";
import type { WebhookAdmin } from "./webhooks.port.ts";

/** How often the feed sends itself a heartbeat, to notice when it no longer receives anything. */
const BEAT_MS = 1_000;
/**
 * Missed heartbeats before followers are disconnected. A short stall must not disconnect them, because they
 * would all reconnect at once.
 */
const BEATS_UNTIL_LOST = 5;
/** How long deliveries, events and removed endpoints are kept after they ended. */
const HISTORY_KEPT_MS = 14 * 24 * 3600 * 1000;

interface PushNeeds extends Pick<Services, "clock" | "events" | "chains"> {
  readonly config: Pick<ApiConfig, "database" | "push" | "http">;
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
}

/** The feed of status changes, and what sockets and streams need to follow it. */
export function startPush({ clock, events, chains, config, sql, lifecycle }: PushNeeds): {
  readonly push: StatusPush;
  readonly feed: ReturnType<typeof statusFeed>;
} {
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
  return {
    feed,
    push: {
      ...followStatus(feed, clock, addressFormatOf(chains)),
      connections: connectionLimits(policy),
      policy,
      sockets: { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 },
    },
  };
}

/** Administration of webhooks by the owners of API keys. */
export function webhookAdministration({
  clock,
  config,
  sql,
}: Pick<PushNeeds, "clock" | "sql"> & { readonly config: Pick<ApiConfig, "push"> }): WebhookAdmin {
  return webhookAdmin({
    register: webhookRegister(sql),
    clock,
    policy: config.push.webhooks,
    mayBePublicHost,
    randomText: (bytes) => randomBytes(bytes).toString("base64url"),
  });
}

/** Delivers webhooks until the process ends. `prune` deletes old deliveries and events. */
export function startWebhooks({ clock, events, chains, config, sql, lifecycle }: PushNeeds): {
  prune(): Promise<void>;
} {
  const policy = config.push.webhooks;
  const queue = webhookQueue(sql);
  const sender = httpSender(policy);
  lifecycle.add("webhook connections", () => sender.close());
  const delivering = deliverWebhooks({
    queue,
    sender,
    clock,
    events,
    hmac: (secret, text) => createHmac("sha256", secret).update(text).digest("hex"),
    chance: Math.random,
    policy,
    addressFormat: addressFormatOf(chains),
  });
  lifecycle.add("webhooks", () => delivering.close());
  const listener = listen(config.database.url.reveal(), WEBHOOK_CHANNEL, {
    onNotice: () => delivering.wake(),
    onFault: (error) => events.fault("webhook_fault", error, { part: "listen" }),
  });
  lifecycle.add("webhook announcements", () => listener.close());
  return {
    async prune(): Promise<void> {
      const beforeMs = clock.nowMs() - HISTORY_KEPT_MS;
      await inBatches(clock, (limit) => queue.prune(beforeMs, limit));
    },
  };
}
