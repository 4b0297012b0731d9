import { RpcFault } from "@causeway/chains";
import { freePort, startRedis } from "@causeway/testkit";
import type pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { redisAt } from "../../apps/api/src/db/redis-endpoint.ts";
import { startOutboxRelay } from "../../apps/api/src/db/outbox-relay.adapter.ts";
import type { RedisMemory } from "../../apps/api/src/db/redis-memory.ts";
import { startWorkers } from "../../apps/api/src/db/worker-host.adapter.ts";
import { jobRuns } from "../../apps/api/src/db/job-runs.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { catalog as real } from "../../apps/api/src/process/catalog.job.ts";
import type { Catalog } from "../../apps/api/src/db/define-job.job.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { refundJob } from "../../apps/api/src/requests/transition.ts";
import { noAppBalances } from "../../test/fakes/no-app-balances.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { enginePolicy } from "../../test/support/engine-policy.ts";

/** How much faster the service's clock runs than the machine's. */
const CLOCK_FACTOR = 60;
const HOUR_MS = 3_600 * 1000;

export interface DeadNodeFigures {
  readonly stuck: number;
  /**
   * The service's clock ran this much faster; BullMQ's pauses between attempts of a job ran at the
   * machine's speed.
   */
  readonly faster: number;
  readonly hours: number;
  readonly usedMemory: { readonly beforeBytes: number; readonly afterBytes: number };
  readonly runs: number;
  readonly outboxRows: number;
  /** A job of another chain, from its commit until it ran, in ms of the machine. */
  readonly healthyMs: { readonly p50: number; readonly max: number };
}

/**
 * Makes the node of `stuck` refunds unreachable for an hour of the service's clock while jobs of another
 * chain continue.
 */
export async function measureDeadNode(
  pool: pg.Pool,
  databaseUrl: string,
  stuck: number,
): Promise<DeadNodeFigures> {
  const redis = await startRedis({ port: await freePort(), env: {} });
  const startedMs = Date.now();
  const clock = { nowMs: () => startedMs + (Date.now() - startedMs) * CLOCK_FACTOR };
  const events = recordedEvents();
  const uow = postgresUnitOfWork(pool, events);
  const reads = postgresReads(sqlOn(pool));
  const readers = { balances: balanceReads(sqlOn(pool)), depositAddresses: depositAddressReads(sqlOn(pool)) };
  const services = { ...noAppBalances, ...readers, enginePolicy, events, reads, uow, clock };
  let runs = 0;
  const ranAtMs = new Map<string, number>();
  const catalog: Catalog = {
    ...real,
    refund: {
      name: "refund",
      concurrency: 8,
      attempts: 8,
      run: async (_services: WorkerServices, data: unknown) => {
        const { depositId = "" } = data as { readonly depositId?: string };
        runs++;
        if (depositId.startsWith("healthy")) ranAtMs.set(depositId, performance.now());
        else throw new RpcFault({ kind: "network", method: "eth_call", reason: "connection refused" });
        return await Promise.resolve({ waitMs: 0 });
      },
    },
  };
  const queue = { redis: redisAt(redis.url), prefix: "bench" };
  const asServices = services as unknown as WorkerServices;
  const relay = await startOutboxRelay(asServices, catalog, { ...queue, pool, databaseUrl });
  const workers = startWorkers(asServices, catalog, { ...queue, runs: jobRuns(sqlOn(pool)) });
  try {
    const { rows } = await pool.query<{ id: number }>(
      `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
         amount, value_usd, disposition, refund_state, seen_at_ms)
       select 1, 'tx' || n, 0, 1, 'b', true, 1, 'c', 'd', 'e', 1, 0, 'refund', 'none', $2 from generate_series(1, $1::bigint) n returning id`,
      [stuck, startedMs],
    );
    const before: RedisMemory = await relay.memory();
    await uow.run((tx) =>
      tx.outbox.add(
        rows.map(({ id }) => refundJob(String(id), startedMs)),
        startedMs,
      ),
    );
    const healthy: number[] = [];
    for (let n = 0; clock.nowMs() < startedMs + HOUR_MS; n++) {
      await reconcileRequests(services as unknown as Parameters<typeof reconcileRequests>[0]);
      const id = `healthy${n}`;
      const committedMs = performance.now();
      await uow.run((tx) => tx.outbox.add([refundJob(id, clock.nowMs())], clock.nowMs()));
      while (!ranAtMs.has(id)) await sleep(1);
      healthy.push((ranAtMs.get(id) ?? Number.NaN) - committedMs);
      await sleep(
        Math.max(0, enginePolicy.reconcileIntervalMs / CLOCK_FACTOR - (performance.now() - committedMs)),
      );
    }
    healthy.sort((a, b) => a - b);
    const outbox = await pool.query<{ count: number }>("select count(*) as count from outbox");
    return {
      stuck,
      faster: CLOCK_FACTOR,
      hours: 1,
      usedMemory: { beforeBytes: before.usedBytes, afterBytes: (await relay.memory()).usedBytes },
      runs: runs - healthy.length,
      outboxRows: (outbox.rows[0]?.count ?? 0) - healthy.length,
      healthyMs: {
        p50: healthy[Math.floor(healthy.length / 2)] ?? Number.NaN,
        max: healthy.at(-1) ?? Number.NaN,
      },
    };
  } finally {
    await workers.close();
    await relay.close();
    await redis.stop();
  }
}
