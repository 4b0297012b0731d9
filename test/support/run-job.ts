import { catalog } from "../../apps/api/src/process/catalog.job.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { Progress } from "../../apps/api/src/db/wait.ts";

/** Runs a job as a worker does. */
export async function runJob(services: WorkerServices, job: string, payload: unknown): Promise<Progress> {
  const definition = catalog[job];
  if (definition === undefined) throw new Error(`no queue named ${job}`);
  return await definition.run(services, payload);
}
