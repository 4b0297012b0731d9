import type { Lifecycle } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { listen } from "./adapters/postgres/listen.ts";
import type { Sql } from "./adapters/postgres/pool.ts";
import { statement } from "./adapters/postgres/pool.ts";
import { STATUS_CHANNEL } from "./adapters/postgres/request-save.ts";
import { statusEventReads } from "./adapters/postgres/status-event-reads.ts";
import { statusFeed } from "./adapters/postgres/status-feed.ts";
import { pushGauges } from "./adapters/telemetry/push-gauges.ts";
import type { ApiConfig } from "./config.ts";
import type { PushRoutes } from "./ports/push-routes.ts";
import type { Services } from "./ports/services.ts";
import type { StatusFeed } from "./ports/status-feed.ts";
import { connectionPlaces } from "./usecases/push/connection-places.ts";
import { followStatus } from "./usecases/push/follow-status.ts";

/** So long after the feed went silent, at most twice, whoever follows it is told so. */
const BEAT_MS = 5_000;
const announce = statement("status_announce", `select pg_notify('${STATUS_CHANNEL}', $1)`);

interface Ground {
  readonly config: Pick<ApiConfig, "database" | "push" | "http">;
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
}

/** What routes push from: the feed of changes, and who listens. */
export function pushRouteServices(
  { events }: Pick<Services, "events">,
  { config, sql, lifecycle, registry }: Ground,
): { readonly push: PushRoutes; readonly feed: StatusFeed } {
  const feed = statusFeed({
    reads: statusEventReads(sql),
    listen: (on) => listen(config.database.url.reveal(), STATUS_CHANNEL, on),
    announce: async (text) => void (await sql.query(announce, [text])),
    events,
    beatMs: BEAT_MS,
  });
  lifecycle.add("status feed", () => feed.close());
  const policy = { ...config.push.connections, trustProxy: config.http.trustProxy };
  const sockets = { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 };
  pushGauges(registry, () => ({ ...sockets, ...feed.figures() }));
  return { feed, push: { ...followStatus(feed), places: connectionPlaces(policy), policy, sockets } };
}
