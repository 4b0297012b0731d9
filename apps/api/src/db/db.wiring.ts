import type { Lifecycle } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import type pg from "pg";
import type { ApiConfig } from "../config/config.ts";
import { checkSessions, type ServerLimits } from "./check-sessions.postgres.ts";
import { withDatabaseProblems } from "./database-problem.postgres.ts";
import type { Catalog } from "./define-job.job.ts";
import { jobRuns } from "./job-runs.postgres.ts";
import { leaderLocks, type LeaderLocks } from "./leader-locks.postgres.ts";
import { checkSchema } from "./migrations.postgres.ts";
import { startOutboxRelay, type OutboxRelay } from "./outbox-relay.adapter.ts";
import type { NewJobs } from "./new-jobs.ts";
import { createPool, sqlOn, type Sql } from "./pool.postgres.ts";
import { watchRedisMemory } from "./redis-memory.ts";
import type { RedisEndpoint } from "./redis-endpoint.port.ts";
import type { Services, WorkerServices } from "./services.port.ts";
import { startWorkers } from "./worker-host.adapter.ts";

interface DatabaseNeeds {
  readonly config: Pick<ApiConfig, "database">;
  readonly lifecycle: Lifecycle;
}

export interface Database {
  readonly pool: pg.Pool;
  readonly sql: Sql;
  readonly serverLimits: ServerLimits;
}

/** Connects to Postgres. @throws StartProblem when it is unavailable or not migrated */
export async function connectDatabase({ config, lifecycle }: DatabaseNeeds): Promise<Database> {
  const { poolSize: max, statementTimeoutMs } = config.database;
  const url = config.database.url.reveal();
  const serverLimits = await withDatabaseProblems(url, async () => await checkSessions(url));
  const pool = createPool(url, { max, statementTimeoutMs, applicationName: "causeway" });
  lifecycle.add("postgres", () => pool.end());
  await withDatabaseProblems(url, async () => await checkSchema(pool));
  return { pool, sql: sqlOn(pool), serverLimits };
}

interface QueueNeeds extends Pick<Services, "clock" | "events" | "reads" | "uow"> {
  readonly config: Pick<ApiConfig, "database" | "redis">;
  readonly pool: pg.Pool;
  readonly lifecycle: Lifecycle;
  readonly newJobs: NewJobs;
}

/** Moves jobs from the outbox to the queues. */
export async function startRelay(needs: QueueNeeds, catalog: Catalog): Promise<OutboxRelay> {
  const { config, pool, lifecycle } = needs;
  const relay = await startOutboxRelay(needs, catalog, {
    ...queueOptions(config),
    pool,
    databaseUrl: config.database.url.reveal(),
    newJobs: needs.newJobs,
  });
  lifecycle.add("outbox relay", () => relay.close());
  return relay;
}

/** Runs the jobs of the queues. */
export function startJobs(
  services: WorkerServices & {
    readonly config: Pick<ApiConfig, "redis">;
    readonly sql: Sql;
    readonly lifecycle: Lifecycle;
    readonly newJobs: NewJobs;
  },
  catalog: Catalog,
): void {
  const { config, sql, lifecycle, newJobs } = services;
  const workers = startWorkers(services, catalog, { ...queueOptions(config), runs: jobRuns(sql) });
  newJobs.useRunner(workers.commitRunner);
  lifecycle.add("workers", () => workers.close());
}

function queueOptions({ redis }: Pick<ApiConfig, "redis">): {
  readonly redis: RedisEndpoint;
  readonly prefix: string;
} {
  return { redis: redis.endpoint, prefix: redis.keyPrefix };
}

/** Reports how much memory Redis uses; an alarm when it is almost full. */
export function redisMemory(
  { registry, events }: Pick<Services, "events"> & { readonly registry: Registry },
  relay: Pick<OutboxRelay, "memory">,
): () => Promise<void> {
  const memory = watchRedisMemory(registry, () => relay.memory(), events);
  return async () => await memory.refresh();
}

/** Locks by which one process leads each chain and the hub. */
export function startLeaderLocks({
  config,
  events,
  lifecycle,
}: DatabaseNeeds & Pick<Services, "events">): LeaderLocks {
  const locks = leaderLocks(config.database.url.reveal(), {
    onFault: (error) => events.fault("leader_fault", error, {}),
  });
  lifecycle.add("leader locks", () => locks.close());
  return locks;
}
