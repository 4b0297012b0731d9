import type { Catalog } from "../db/define-job.job.ts";
import { claim } from "./claim.ts";
import { execute } from "./execute.ts";
import { fill } from "./fill.ts";
import { refund } from "./refund.ts";
import { sweep } from "./sweep.ts";

/** Every queue on one screen. */
export const catalog: Catalog = { fill, refund, execute, claim, sweep };
