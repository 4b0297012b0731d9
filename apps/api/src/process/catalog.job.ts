import type { Catalog } from "../db/define-job.job.ts";
import { legJobs } from "../payments/legs.job.ts";

/** Every queue: one for each kind of payment. */
export const catalog: Catalog = legJobs;
