import { startOutboxRelay } from "../../apps/api/src/db/outbox-relay.adapter.ts";
import { newJobs } from "../../apps/api/src/db/new-jobs.ts";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { redisAt } from "../../apps/api/src/db/redis-endpoint.ts";
import { jobRuns } from "../../apps/api/src/db/job-runs.postgres.ts";
import { startWorkers } from "../../apps/api/src/db/worker-host.adapter.ts";
import type { Catalog } from "../../apps/api/src/db/define-job.job.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { recordedEvents } from "../fakes/recorded-events.ts";

/** A process that commits a job, runs the job at the commit, and does not finish it. */
const [databaseUrl = "", redisUrl = "", prefix = ""] = process.argv.slice(2);
const events = recordedEvents();
const services = { clock: { nowMs: () => Date.now() }, events } as unknown as WorkerServices;
const run = async (): Promise<never> => {
  process.stdout.write("runs\n");
  return await new Promise(() => undefined);
};
const catalog = {
  fill: { name: "fill", concurrency: 1, attempts: 1, runsAtCommit: true, run },
} as unknown as Catalog;
const pool = createPool(databaseUrl, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
const redis = redisAt(redisUrl);
const jobsOfProcess = newJobs();
const relay = await startOutboxRelay(services, catalog, {
  pool,
  databaseUrl,
  redis,
  prefix,
  newJobs: jobsOfProcess,
});
jobsOfProcess.useRunner(
  startWorkers(services, catalog, { redis, prefix, runs: jobRuns(sqlOn(pool)) }).commitRunner,
);
while ((await relay.depths().catch(() => [])).length === 0);
await postgresUnitOfWork(pool, events, undefined, jobsOfProcess).run(
  async (tx) => await tx.outbox.add([{ job: "fill", jobId: "job-7", payload: { n: 7 } }], Date.now()),
);
