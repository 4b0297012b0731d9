import type { Services } from "../../ports/services.ts";
import { rescueJob } from "../transition.ts";
import { claimJob } from "./accept-claim.ts";

const BATCH = 500;
/** An offer that nobody signed is remembered this long after its end, for whoever asks why. */
const OFFER_KEPT_SECONDS = 24 * 3600;

/** Claims being paid that lost their job get another; offers that nobody signed are forgotten. Any number of processes may run it. */
export async function reconcileClaims(
  services: Pick<Services, "balances" | "uow" | "clock" | "enginePolicy">,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const { overdueAfterMs } = services.enginePolicy;
  const overdue = await services.balances.overdueClaims(nowMs - overdueAfterMs, BATCH);
  const window = Math.floor(nowMs / overdueAfterMs);
  const jobs = overdue.map((claimId) => rescueJob(claimJob(claimId, 0), window));
  if (jobs.length > 0) await services.uow.run((tx) => tx.outbox.add(jobs, nowMs));
  await services.uow.run((tx) => tx.claims.prune(Math.floor(nowMs / 1000) - OFFER_KEPT_SECONDS, BATCH));
}
