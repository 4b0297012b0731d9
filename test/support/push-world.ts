import type { RequestEvent, RequestId, RequestTerms, TxHash } from "@causeway/domain";
import { createMetrics } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import type pg from "pg";
import { listen } from "../../apps/api/src/db/listen.postgres.ts";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { WEBHOOK_CHANNEL } from "../../apps/api/src/requests/request-save.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { startPush, startWebhooks, webhookAdministration } from "../../apps/api/src/push/push.wiring.ts";
import type { PushPolicy } from "../../apps/api/src/push/status-push.port.ts";
import type { RouteFakes } from "../fakes/route-services.ts";
import type { StatusFeed } from "../../apps/api/src/requests/status-feed.port.ts";
import type { RequestChange, UnitOfWork } from "../../apps/api/src/db/unit-of-work.port.ts";
import { requestStatus } from "../../apps/api/src/requests/request-status.ts";
import { transition } from "../../apps/api/src/requests/transition.ts";
import { Secret } from "@causeway/config";
import { createLifecycle, createLogger } from "@causeway/service-kit";
import { adjustableClock, type AdjustableClock } from "../fakes/adjustable-clock.ts";
import { noAppBalances } from "../fakes/no-app-balances.ts";
import { recordedEvents } from "../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { aServer } from "./route-server.ts";
import { someHash, someTerms } from "./terms.ts";
import { pushGauges } from "../../apps/api/src/telemetry/push-gauges.ts";
import { noChains } from "../fakes/no-chains.ts";

/** A real store with the real feed and a real server. The engine's events change requests. */
export interface PushWorld {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
  readonly uow: UnitOfWork;
  readonly feed: StatusFeed;
  readonly clock: AdjustableClock;
  readonly events: ReturnType<typeof recordedEvents>;
  readonly app: FastifyInstance;
  /** The services that the server's routes call. */
  readonly routes: Pick<RouteFakes, "push" | "webhooks">;
  /** The server's WebSocket URL, ws://host:port. */
  readonly wsUrl: string;
  readonly httpUrl: string;
  aRequest(change?: Partial<RequestTerms>): Promise<RequestTerms>;
  /** The current value of one of the API's metrics. */
  metric(name: string): Promise<number>;
  /** Stores an API key and returns its id. */
  aKey(id?: string): Promise<string>;
  /** Delivers webhooks as a worker does. Returns a function that stops the deliveries. */
  deliver(): () => Promise<void>;
  /** Moves the clock forward, and wakes the workers. */
  forward(ms: number): Promise<void>;
  /** Applies one event to a request in a separate commit. */
  applyEvent(
    requestId: RequestId,
    event: RequestEvent,
    change?: Omit<RequestChange, "state">,
  ): Promise<string>;
  /** Moves a request from quote to delivery: three changes that clients see. */
  fill(requestId: RequestId): Promise<TxHash>;
  close(): Promise<void>;
}

export const depositSeen = (depositId = "1"): RequestEvent => ({
  kind: "depositSeen",
  depositId,
  verdict: { kind: "match" },
  confirmed: true,
  late: false,
});

export async function startPushWorld({
  policy = {},
  allowPrivate = true,
  routes = {},
}: {
  readonly policy?: Partial<PushPolicy>;
  /** Whether webhooks may go to private network addresses. */
  readonly allowPrivate?: boolean;
  readonly routes?: Partial<RouteFakes>;
} = {}): Promise<PushWorld> {
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 10, statementTimeoutMs: 10_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const events = recordedEvents();
  const uow = postgresUnitOfWork(pool, events);
  const clock = adjustableClock();
  const services = { ...noAppBalances, events, clock };
  const log = createLogger({ name: "test", level: "silent" });
  const lifecycle = createLifecycle(log, 10_000);
  const connections = {
    maxConnections: 1_000,
    maxPerAddress: 1_000,
    maxSubscriptions: 10,
    heartbeatMs: 20_000,
    ...policy,
  };
  const config = {
    database: { url: new Secret(database.url), poolSize: 1, statementTimeoutMs: 1 },
    push: { connections, webhooks: { allowPrivate, timeoutMs: 1_000 } },
    http: {
      host: "",
      port: 0,
      bodyLimitBytes: 1,
      trustProxy: policy.trustProxy ?? false,
      responseCheck: true,
    },
  };
  const { registry } = createMetrics("push");
  const { feed, push } = startPush({ clock, events, chains: noChains, config, sql, lifecycle });
  pushGauges(registry, () => ({ ...push.sockets, ...feed.figures() }));
  const reads = postgresReads(sql);
  const webhooks = webhookAdministration({ clock, config, sql });
  const { app } = await aServer({
    push,
    webhooks,
    clock,
    requestStatus: async (requestId) => await requestStatus({ reads, chains: noChains, clock }, requestId),
    ...routes,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  await listening(database.url);
  const insertQuoted = groupedQuoteInserts(sql);

  const applyEvent: PushWorld["applyEvent"] = async (requestId, event, change) =>
    await uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      return (await transition(services, tx, record, event, change)).decision.kind;
    });
  return {
    database,
    pool,
    uow,
    feed,
    clock,
    events,
    app,
    routes: { push, webhooks },
    wsUrl: `ws://127.0.0.1:${port}`,
    httpUrl: `http://127.0.0.1:${port}`,
    applyEvent,
    async metric(name) {
      const line = (await registry.metrics()).split("\n").find((sample) => sample.startsWith(`${name}{`));
      return Number(line?.split(" ").at(-1));
    },
    async aKey(id = randomBytes(8).toString("hex")) {
      await pool.query(
        `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
         values ($1, 'test', $2, '{read}', '{}', '{}', '{}', 0, 0)`,
        [id, Buffer.from(id)],
      );
      return id;
    },
    deliver() {
      const webhookLifecycle = createLifecycle(log, 10_000);
      startWebhooks({ clock, events, chains: noChains, config, sql, lifecycle: webhookLifecycle });
      return async () => void (await webhookLifecycle.close());
    },
    async forward(ms) {
      clock.forward(ms);
      await pool.query(`select pg_notify('${WEBHOOK_CHANNEL}', '')`);
    },
    async aRequest(change) {
      const terms = someTerms(change);
      await insertQuoted(terms);
      return terms;
    },
    async fill(requestId) {
      const txHash = someHash();
      await applyEvent(requestId, depositSeen(), { inTxHashes: [someHash()] });
      await applyEvent(requestId, { kind: "fillPlanned" });
      await applyEvent(requestId, { kind: "fillBroadcast" });
      await applyEvent(requestId, { kind: "fillMined" } as RequestEvent, { txHashes: [txHash] });
      return txHash;
    },
    async close() {
      await app.close();
      await lifecycle.close();
      await pool.end();
      await database.drop();
    },
  };
}

/** Opens one more listener. Resolves at its first notice: by then, earlier listeners receive notices too. */
async function listening(url: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const listener = listen(url, "test_ready", {
      onNotice: () => {
        void listener.close();
        resolve();
      },
      onFault: () => undefined,
    });
  });
}
