import { z } from "zod";
import type { RequestId } from "@causeway/domain";
import { fillDestination } from "./fill-destination.ts";
import { planAhead } from "./fills-ahead.ts";
import { defineJob } from "../db/define-job.job.ts";

export const fill = defineJob({
  name: "fill",
  payload: z.object({ requestId: z.string() }),
  concurrency: 128,
  attempts: 8,
  prepare: (services, { requestId }) => planAhead(services, requestId as RequestId),
  run: (services, { requestId }) => fillDestination(services, requestId as RequestId),
});
