import { redisAt } from "../../apps/api/src/db/redis-endpoint.ts";
import { startWorkers } from "../../apps/api/src/db/worker-host.adapter.ts";
import type { Catalog } from "../../apps/api/src/db/define-job.job.ts";
import type { JobRuns } from "../../apps/api/src/db/job-runs.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { recordedEvents } from "../fakes/recorded-events.ts";

/** A process that works on an empty queue until SIGTERM. It exits when its event loop is empty. */
const [redisUrl = "", prefix = ""] = process.argv.slice(2);
const services = {
  clock: { nowMs: () => Date.now() },
  events: recordedEvents(),
} as unknown as WorkerServices;
const fill = { name: "fill", concurrency: 1, attempts: 1, run: async () => ({ waitMs: 0 }) };
const runs = {} as JobRuns;
const host = startWorkers(services, { fill } as unknown as Catalog, {
  redis: redisAt(redisUrl),
  prefix,
  runs,
});
process.once("SIGTERM", () => void host.close().then(() => process.stdout.write("closed\n")));
