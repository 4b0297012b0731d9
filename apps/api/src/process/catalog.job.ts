import type { Catalog } from "../db/define-job.job.ts";
import { claim } from "../payments/claim.job.ts";
import { execute } from "../payments/execute.job.ts";
import { fill } from "../payments/fill.job.ts";
import { refund } from "../payments/refund.job.ts";
import { sweep } from "../payments/sweep.job.ts";

/** Every queue on one screen. */
export const catalog: Catalog = { fill, refund, execute, claim, sweep };
