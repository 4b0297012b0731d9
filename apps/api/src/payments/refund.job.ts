import { z } from "zod";
import { refundDeposit } from "./refund-deposit.ts";
import { defineJob } from "../db/define-job.job.ts";

export const refund = defineJob({
  name: "refund",
  payload: z.object({ depositId: z.string() }),
  concurrency: 8,
  attempts: 8,
  run: (services, { depositId }) => refundDeposit(services, depositId),
});
