import { expect, test } from "vitest";
import { newJobs, type StoredJob } from "./new-jobs.ts";

const job: StoredJob = { id: 1, job: "fill", jobId: "fill-1", payload: {} };

test("waits for the jobs that run at their commit, at most for a given time", async () => {
  const jobs = newJobs();
  const ended = Promise.withResolvers<number>();
  jobs.useRunner({ runs: () => true, run: () => ended.promise });
  // Nothing runs yet.
  await jobs.waitForRunning(60_000);
  void jobs.run(job);
  const startedAtMs = performance.now();
  await jobs.waitForRunning(50);
  expect(performance.now() - startedAtMs).toBeGreaterThan(45);
  let isSettled = false;
  const settled = jobs.waitForRunning(60_000).then(() => (isSettled = true));
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  ended.resolve(0);
  await settled;
  await jobs.waitForRunning(60_000);
});
