import { z } from "zod";
import { submitSweep } from "./submit-sweep.ts";
import { defineJob } from "../db/define-job.job.ts";

export const sweep = defineJob({
  name: "sweep",
  payload: z.object({ sweepId: z.string() }),
  concurrency: 8,
  attempts: 8,
  run: (services, { sweepId }) => submitSweep(services, sweepId),
});
