import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import type { PushPolicy } from "../push/status-push.port.ts";
import type { WebhookPolicy } from "../push/webhooks.port.ts";

const { flag, integer } = setting;

/** Limits of WebSockets, streams and webhooks. */
export const pushSettings = {
  maxConnections: integer({
    name: "PUSH_MAX_CONNECTIONS",
    min: 1,
    max: 1_000_000,
    default: 20_000,
    describe:
      "WebSockets and streams open at once per process. Each needs a file descriptor, so `ulimit -n` must be higher.",
  }),
  maxPerAddress: integer({
    name: "PUSH_MAX_CONNECTIONS_PER_ADDRESS",
    min: 1,
    max: 1_000_000,
    default: 200,
    describe: "WebSockets and streams open at once per IP address. IPv6 addresses count by /64 network.",
  }),
  webhookAllowPrivate: flag({
    name: "WEBHOOK_ALLOW_PRIVATE",
    default: false,
    describe:
      "Allows webhooks to private, loopback and link-local addresses, and over plain http. Only for receivers on your own network.",
  }),
};

export const fixedPushPolicy = {
  /** Maximum number of subscriptions of one WebSocket. */
  maxSubscriptions: 100,
  /** A WebSocket that has not answered a heartbeat when the next one is due is closed. */
  heartbeatMs: 20_000,
  /** Timeout of one webhook delivery, including its response. */
  webhookTimeoutMs: 10_000,
};

export interface PushConfig {
  readonly connections: Omit<PushPolicy, "trustProxy">;
  readonly webhooks: WebhookPolicy;
}

export function pushConfig(push: SettingValues<typeof pushSettings>): PushConfig {
  const { maxConnections, maxPerAddress, webhookAllowPrivate } = push;
  const { webhookTimeoutMs, ...limits } = fixedPushPolicy;
  return {
    connections: { maxConnections, maxPerAddress, ...limits },
    webhooks: { allowPrivate: webhookAllowPrivate, timeoutMs: webhookTimeoutMs },
  };
}
