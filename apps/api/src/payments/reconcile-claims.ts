import type { Services } from "../db/services.port.ts";
import { overdueNow, rescue } from "../db/rescue-lost.ts";

const BATCH = 500;

/** Claims being paid that lost their job get another. Any number of processes may run it. */
export async function reconcileClaims(
  services: Pick<Services, "balances" | "uow" | "clock" | "enginePolicy">,
): Promise<void> {
  const claimIds = await services.balances.overdueClaims(overdueNow(services), BATCH);
  await rescue(
    services,
    claimIds.map((claimId) => ({ job: "claim", legId: claimId, payload: { claimId } })),
  );
}
