import { z } from "zod";
import type { RequestId } from "@causeway/domain";
import { submitExecution } from "./submit-execution.ts";
import { defineJob } from "../db/define-job.job.ts";

export const execute = defineJob({
  name: "execute",
  payload: z.object({ requestId: z.string() }),
  // Jobs of a burst wait together and are sent together.
  concurrency: 200,
  attempts: 8,
  run: (services, { requestId }) => submitExecution(services, requestId as RequestId),
});
