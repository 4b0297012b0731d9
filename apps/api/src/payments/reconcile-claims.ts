import type { Services } from "../db/services.port.ts";
import { overdueNow, rescue } from "../db/rescue-lost.ts";

const BATCH = 500;

/** Adds a new job for claims whose job was lost. May run in any number of processes. */
export async function reconcileClaims(
  services: Pick<Services, "balances" | "uow" | "clock" | "enginePolicy">,
): Promise<void> {
  const claimIds = await services.balances.overdueClaims(overdueNow(services), BATCH);
  await rescue(
    services,
    claimIds.map((claimId) => ({ job: "claim", legId: claimId, payload: { claimId } })),
  );
}
