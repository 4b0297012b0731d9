import { z } from "zod";
import type { Hex32 } from "@causeway/domain";
import { payClaim } from "./pay-claim.ts";
import { defineJob } from "../db/define-job.job.ts";

export const claim = defineJob({
  name: "claim",
  payload: z.object({ claimId: z.string() }),
  concurrency: 4,
  attempts: 8,
  run: (services, { claimId }) => payClaim(services, claimId as Hex32),
});
