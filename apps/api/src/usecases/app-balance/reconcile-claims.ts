import type { Services } from "../../ports/services.ts";
import { rescueJob } from "../transition.ts";
import { claimJob } from "./accept-claim.ts";

const BATCH = 500;

/** Claims being paid that lost their job get another. Any number of processes may run it. */
export async function reconcileClaims(
  services: Pick<Services, "balances" | "uow" | "clock" | "enginePolicy">,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const { overdueAfterMs } = services.enginePolicy;
  const overdue = await services.balances.overdueClaims(nowMs - overdueAfterMs, BATCH);
  const window = Math.floor(nowMs / overdueAfterMs);
  const jobs = overdue.map((claimId) => rescueJob(claimJob(claimId, 0), window));
  if (jobs.length > 0) await services.uow.run((tx) => tx.outbox.add(jobs, nowMs));
}
