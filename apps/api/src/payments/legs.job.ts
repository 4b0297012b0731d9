import { z } from "zod";
import { defineJob, type Catalog } from "../db/define-job.job.ts";
import { LEG_KINDS } from "./legs/index.ts";
import { pay } from "./pay-leg.ts";

/** One queue per kind of payment: each job pays one leg. */
export const legJobs: Catalog = Object.fromEntries(
  LEG_KINDS.map((kind) => {
    const { name, id, concurrency, runsAtCommit } = kind.queue;
    const job = defineJob({
      name,
      payload: z.object({ [id]: z.string() }).transform((payload) => String(payload[id])),
      concurrency,
      attempts: 8,
      runsAtCommit,
      run: (services, legId) => pay(services, kind, legId),
    });
    return [name, job];
  }),
);
