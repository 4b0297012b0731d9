import type { Clock } from "../db/clock.port.ts";
import type { Events } from "../db/events.port.ts";
import { pauseAfter } from "../push/index.ts";
import type { WebhookSender } from "../push/webhooks.port.ts";
import { noticeBody } from "./notice-body.ts";
import type { Channel, DueNotice, NoticeStore } from "./notices.port.ts";

const AT_ONCE = 8;
/** Longer than an attempt, with time to record its outcome. */
const LEASE_MS = 30_000;

export interface NoticeDelivery {
  readonly store: Pick<NoticeStore, "claim" | "finish">;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly events: Events;
  readonly channels: readonly Channel[];
  readonly environment: string;
  /** Random, from 0 to 1. */
  readonly chance: () => number;
}

/**
 * Makes one attempt for each due message. After a crash between an attempt and its record, the attempt is
 * repeated when the lease ends: a channel may get a message twice, with the same id, but never misses one.
 */
export async function deliverNotices(services: NoticeDelivery, signal: AbortSignal): Promise<void> {
  const { store, clock, channels } = services;
  const notices = await store.claim({
    channels: channels.map(({ id }) => id),
    nowMs: clock.nowMs(),
    leaseMs: LEASE_MS,
    limit: AT_ONCE,
  });
  await Promise.all(notices.map(async (notice) => await attempt(services, notice, signal)));
}

async function attempt(
  { store, sender, clock, events, channels, environment, chance }: NoticeDelivery,
  { id, channel: channelId, message, tries }: DueNotice,
  signal: AbortSignal,
): Promise<void> {
  const channel = channels.find((candidate) => candidate.id === channelId);
  if (channel === undefined) return;
  const outcome = await sender.send({
    url: channel.url,
    headers: { "content-type": "application/json", "user-agent": "causeway-notices/1" },
    body: noticeBody(id, message, { format: channel.format, environment }),
    signal,
  });
  // A shutdown is not a failure of the channel: another process sends the message when the lease ends.
  if (signal.aborted && outcome.error !== undefined) return;
  const nowMs = clock.nowMs();
  const facts = {
    noticeId: id,
    channel: channelId,
    rule: message.rule,
    tries: tries + 1,
    reason: outcome.error,
  };
  const pauseMs = outcome.error === undefined ? undefined : pauseAfter(tries + 1, chance());
  await store.finish(id, { nowMs, againAtMs: pauseMs === undefined ? undefined : nowMs + pauseMs });
  if (outcome.error === undefined) events.happened("notice_delivered", facts);
  else if (pauseMs === undefined) events.alarm("notice_given_up", facts);
  else events.happened("notice_refused", facts);
}
