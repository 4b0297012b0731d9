import type { DepositId, RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import { claimJob } from "../balances/accept-claim.ts";
import { executeJob, fillJob, refundJob, sweepJob } from "../requests/transition.ts";
import { legOfJobId, rescueJobId } from "./leg-of-job-id.ts";

const HASH = `0x${"a1".repeat(32)}` as const;

test.each([
  [fillJob(HASH as RequestId, 1_790_000_000_000), HASH],
  [executeJob(HASH as RequestId, 1_790_000_000_000), HASH],
  [refundJob("7" as DepositId, 1_790_000_000_000), "7"],
  [sweepJob("9", 1_790_000_000_000), "9"],
  [claimJob(HASH as never, 2), HASH],
])("reads the leg from the id of the job $job", ({ job, jobId, payload }, legId) => {
  expect(legOfJobId(job, jobId)).toBe(legId);
  expect(legOfJobId(job, rescueJobId(job, legId))).toBe(legId);
  // Job runs name the leg by the first field of the payload.
  expect(Object.values(payload)[0]).toBe(legId);
});
