import { Queue } from "bullmq";
import type pg from "pg";
import type { Catalog } from "./define-job.job.ts";
import { legOfJobId } from "./leg-of-job-id.ts";
import { COMMIT_LEASE_MS, type NewJobs, type StoredJob } from "./new-jobs.ts";
import type { QueueDepth } from "./queue-depth.port.ts";
import type { QueuedLegs } from "./queued-legs.port.ts";
import type { Services } from "./services.port.ts";
import type { JobName } from "./job-name.port.ts";
import { inTransaction } from "./in-transaction.postgres.ts";
import { jobRuns } from "./job-runs.postgres.ts";
import { listen } from "./listen.postgres.ts";
import { OUTBOX_CHANNEL } from "./outbox.postgres.ts";
import {
  hasUnpublished,
  markPublished,
  renewLeases,
  PUBLISH_BATCH,
  lockUnpublished,
  unpublishedIds,
} from "./outbox-relay.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";
import { type InProgress, startLeaseRenewal } from "./renew-leases.ts";
import { producerConnection, readyWithin, redisReason } from "./connections.adapter.ts";
import { redisMemoryOf } from "./redis-memory.ts";
import type { RedisMemory } from "./redis-memory.ts";
import type { RedisEndpoint } from "./redis-endpoint.port.ts";
import { tickBatcher } from "./tick-batcher.ts";
import { isRescue } from "./worker-host.adapter.ts";

export interface OutboxRelay {
  /**
   * Resolves when Redis answers. Rejects at once without a connection; an unresponsive one hangs, so use a
   * deadline.
   */
  ping(): Promise<void>;
  memory(): Promise<RedisMemory>;
  /**
   * Jobs in Redis and those that this process runs at commit, by queue and state.
   * @throws if Redis does not answer in time
   */
  depths(): Promise<readonly QueueDepth[]>;
  readonly queuedLegs: QueuedLegs;
  close(): Promise<void>;
}

/** How often the outbox is read without notifications: the fallback for lost ones. */
const POLL_MS = 1_000;
/** How long a connection may take, at startup and after a loss, before that is a fault. */
const CONNECT_WITHIN_MS = 2_000;
/** How long Redis may take to answer a publication when the relay closes. */
const CLOSE_WITHIN_MS = 2_000;
const RETRY = { type: "exponential", delay: 250 } as const;
/**
 * The reconciler queues failed jobs again. The newest failures are kept for operators, each with one stack.
 */
const KEPT_FAILURES = { stackTraceLimit: 1, removeOnFail: { age: 24 * 3_600, count: 200 } } as const;
/**
 * A job that was queued again runs once: if it fails, the reconciler decides when to queue it again under the
 * same id.
 */
const RESCUE = { attempts: 1, removeOnFail: true } as const;

/**
 * A job that runs for this long counts as lost, and its lease ends: no part of a job may wait that long.
 */
const HANGS_AFTER_MS = 60_000;
/** Maximum jobs of a queue whose ids are read at once: about 10 MB. */
const MAX_LISTED = 100_000;

const QUEUE_STATES = ["wait", "active", "delayed", "failed"] as const;

const READ_MEMORY = `return redis.call('info', 'memory')`;

/** Marks of rows that were queued at the same moment share a statement. */
const MARKS = { inFlight: 1, maxBatch: 1_000 } as const;

/** Jobs of this many commits are queued or marked at a time; the jobs of others are read from the table. */
const MAX_DIRECT = 100;

/**
 * Moves committed jobs from the outbox to the queues. Those of this process are queued as soon as they are
 * committed, or run at once and are only queued if something is left to do; their leases are renewed while
 * they run. The others, and those whose process died or whose run hangs, are read from the table, woken by
 * notifications and a timer. Several relays may run: publishing a job twice (a crash before it is marked, or
 * another relay that reads it meanwhile) has no effect.
 */
export async function startOutboxRelay(
  services: Pick<Services, "clock" | "events">,
  catalog: Catalog,
  options: {
    readonly pool: pg.Pool;
    readonly databaseUrl: string;
    readonly redis: RedisEndpoint;
    readonly prefix: string;
    /** Commits of this process, which pass their jobs to the relay. */
    readonly newJobs?: NewJobs;
    /** Default: a minute. */
    readonly hangsAfterMs?: number;
  },
): Promise<OutboxRelay> {
  let lastFault: unknown;
  const connection = producerConnection(options.redis, (error) => (lastFault = error));
  const waitUntilReady = async (ms: number): Promise<void> => {
    if (await readyWithin(connection, ms)) return;
    const reason = redisReason(lastFault ?? {}) || connection.status;
    throw new Error(`the connection to Redis is not ready: ${reason}`);
  };
  const queues = new Map<JobName, Queue>();
  for (const definition of Object.values(catalog)) {
    const queue = new Queue(definition.name, {
      connection,
      prefix: options.prefix,
      defaultJobOptions: {
        attempts: definition.attempts,
        backoff: RETRY,
        removeOnComplete: true,
        ...KEPT_FAILURES,
      },
    });
    queue.on("error", (error) => {
      services.events.fault("relay_fault", error, { queue: definition.name });
    });
    queues.set(definition.name, queue);
  }

  let isStopped = false;
  const closing = Promise.withResolvers<void>();
  let wake: (() => void) | undefined;
  let isWoken = false;
  const poke = (): void => {
    isWoken = true;
    wake?.();
  };

  const enqueue = async (jobs: readonly StoredJob[], delay = 0): Promise<void> => {
    for (const [name, group] of Map.groupBy(jobs, ({ job }) => job)) {
      const queue = queues.get(name);
      if (queue === undefined) throw new Error(`invariant violated: no queue named ${name}`);
      await queue.addBulk(
        group.map(({ jobId, payload: data }) => ({
          name,
          data,
          opts: { jobId, delay, ...(isRescue(data) && RESCUE) },
        })),
      );
    }
  };

  const sql = sqlOn(options.pool);
  const inProgress = new Map<number, InProgress>();
  const idsInProgress = (): number[] => {
    const nowMs = performance.now();
    return [...inProgress].flatMap(([id, { untilMs }]) => (untilMs > nowMs ? id : []));
  };
  const publish = async (): Promise<number> => {
    // Mostly there are none: all jobs of this process are in progress.
    if (!(await hasUnpublished(sql, idsInProgress()))) return 0;
    return await inTransaction(options.pool, async (client) => {
      const transaction = sqlOn(client);
      const jobs = await lockUnpublished(transaction, idsInProgress());
      if (jobs.length === 0) return 0;
      await enqueue(jobs);
      const ids = jobs.map(({ id }) => id);
      await markPublished(transaction, ids, services.clock.nowMs());
      return ids.length;
    });
  };

  const markTogether = tickBatcher(async (published: readonly (readonly number[])[]) => {
    await markPublished(sql, published.flat(), services.clock.nowMs());
    return published.map(() => undefined);
  }, MARKS);
  let publishing = 0;
  /** @param waitMs pause before the queue runs the jobs; undefined: they are done */
  const settle = async (jobs: readonly StoredJob[], waitMs: number | undefined): Promise<void> => {
    if (jobs.length === 0) return;
    publishing++;
    try {
      if (waitMs !== undefined) await enqueue(jobs, waitMs);
      await markTogether(jobs.map(({ id }) => id));
    } catch (error) {
      services.events.fault("relay_fault", error, {});
      poke();
    } finally {
      publishing--;
      for (const { id } of jobs) inProgress.delete(id);
    }
  };
  const publications = new Set<Promise<unknown>>();
  const publishCommitted = async (jobs: readonly StoredJob[]): Promise<unknown> => {
    const nowMs = performance.now();
    const begun = jobs.map((stored) => {
      const run = options.newJobs?.run(stored);
      const isRunHere = run !== undefined;
      // A publication that takes longer is made again.
      const untilMs = nowMs + (isRunHere ? COMMIT_LEASE_MS : POLL_MS);
      inProgress.set(stored.id, { job: stored.job, isRunHere: isRunHere, begunAtMs: nowMs, untilMs });
      return { stored, run };
    });
    return await Promise.all([
      settle(
        begun.flatMap(({ stored, run }) => (run === undefined ? stored : [])),
        0,
      ),
      ...begun.map(async ({ stored, run }) => {
        if (run !== undefined) await settle([stored], (await run) || undefined);
      }),
    ]);
  };
  // Not in the loop below, which waits for Redis.
  const renewal = startLeaseRenewal(inProgress, {
    hangsAfterMs: options.hangsAfterMs ?? HANGS_AFTER_MS,
    renew: async (ids) => await renewLeases(sql, ids),
    onFault: (error) => services.events.fault("relay_fault", error, { part: "leases" }),
  });

  // A queue without a connection waits for it indefinitely, and one that hangs would gather all commits.
  const isReady = (): boolean => connection.status === "ready" && publishing < MAX_DIRECT;
  const takeCommitted = (jobs: readonly StoredJob[]): void => {
    if (!isReady()) {
      poke();
      return;
    }
    const publication = publishCommitted(jobs).finally(() => publications.delete(publication));
    publications.add(publication);
  };

  // This key is stored with the jobs: if it is missing, the jobs are lost too.
  const queueMark = `${options.prefix}:causeway-queue`;
  const runs = jobRuns(sql);
  let checkedAtMs = -Infinity;
  const checkQueue = async (): Promise<void> => {
    if (performance.now() - checkedAtMs < POLL_MS) return;
    if ((await connection.exists(queueMark)) === 0) {
      await runs.forgetAll();
      await connection.set(queueMark, "1");
      services.events.happened("queue_lost", {});
    }
    checkedAtMs = performance.now();
  };

  /** Ids of jobs that wait for their turn, and of those that run and do not hang. */
  const idsIn = async (queue: Queue): Promise<{ waiting: string[]; running: string[] } | undefined> => {
    const lists = await connection
      .multi()
      .lrange(queue.toKey("wait"), 0, MAX_LISTED - 1)
      .lrange(queue.toKey("active"), 0, MAX_LISTED - 1)
      .exec();
    const [waiting, active] = (lists ?? []).map(([, ids]) => ids as string[]);
    if (waiting === undefined || active === undefined) return undefined;
    if (active.length === 0) return { waiting, running: [] };
    const begun = await connection
      .pipeline(active.map((id) => ["hget", queue.toKey(id), "processedOn"]))
      .exec();
    // BullMQ stamps a job with the clock of the process that runs it.
    const hungBeforeMs = services.clock.nowMs() - HANGS_AFTER_MS;
    return { waiting, running: active.filter((_, index) => Number(begun?.[index]?.[1] ?? 0) > hungBeforeMs) };
  };
  const queuedLegs: QueuedLegs = {
    async legIdsOf(job) {
      const queue = queues.get(job);
      if (queue === undefined || connection.status !== "ready") return undefined;
      // Read in the order in which jobs move, so that no job is missed.
      const unpublished = await unpublishedIds(sql, job, MAX_LISTED);
      const timeout = pause(CONNECT_WITHIN_MS).then(() => undefined);
      const ids = await Promise.race([idsIn(queue).catch(() => undefined), timeout]);
      if (ids === undefined || unpublished.length === MAX_LISTED || ids.waiting.length === MAX_LISTED)
        return undefined;
      const jobIds = [...unpublished, ...ids.waiting, ...ids.running];
      return new Set(jobIds.map((id) => legOfJobId(job, id)));
    },
  };

  const listener = listen(options.databaseUrl, OUTBOX_CHANNEL, {
    onNotice: poke,
    onFault: (error) => services.events.fault("relay_fault", error, { part: "listen" }),
  });

  options.newJobs?.listen({ isReady, take: takeCommitted });
  const loop = (async () => {
    while (!isStopped) {
      isWoken = false;
      try {
        // A queue waits for its connection indefinitely: no transaction may be held in the meantime.
        await Promise.race([waitUntilReady(CONNECT_WITHIN_MS), closing.promise]);
        if (isStopped) break;
        // An unresponsive Redis must not keep this process from ending.
        await Promise.race([checkQueue(), closing.promise]);
        if (isStopped) break;
        while ((await publish()) === PUBLISH_BATCH);
      } catch (error) {
        services.events.fault("relay_fault", error, {});
        await pause(250);
      }
      if (!isWoken && !isStopped)
        await Promise.race([pause(POLL_MS), new Promise<void>((resolve) => (wake = resolve))]);
    }
  })();

  return {
    queuedLegs,
    async ping(): Promise<void> {
      // In a cluster, this checks only the node that has the key.
      await connection.exists(queueMark);
    },
    async memory(): Promise<RedisMemory> {
      // As a script with a key, it runs on the node of a cluster that has the queues.
      return redisMemoryOf(String(await connection.eval(READ_MEMORY, 1, queueMark)));
    },
    async depths(): Promise<readonly QueueDepth[]> {
      // A queue waits for its connection indefinitely; a metrics scrape must not.
      await waitUntilReady(0);
      const counting = [...queues].map(async ([name, queue]) => {
        const counts = await queue.getJobCounts(...QUEUE_STATES);
        const runsHere = [...inProgress.values()].filter(
          ({ job, isRunHere }) => isRunHere && job === name,
        ).length;
        return Object.entries(counts).map(([state, jobs]) => ({
          queue: name,
          state,
          jobs: state === "active" ? jobs + runsHere : jobs,
        }));
      });
      const timeout = pause(CONNECT_WITHIN_MS).then(() => undefined);
      const depths = await Promise.race([Promise.all(counting), timeout]);
      if (depths === undefined) throw new Error("Redis did not respond in time");
      return depths.flat();
    },
    async close(): Promise<void> {
      isStopped = true;
      options.newJobs?.listen(undefined);
      closing.resolve();
      poke();
      // A publication without an answer ends with the connection, and its transaction rolls back.
      void pause(CLOSE_WITHIN_MS).then(() => connection.disconnect());
      await loop;
      await Promise.all(publications);
      renewal.close();
      await listener.close();
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
