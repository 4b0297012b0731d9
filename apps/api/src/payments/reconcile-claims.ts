import type { Services } from "../db/services.port.ts";
import { rescueOverdue } from "../db/rescue-lost.ts";

/** Adds a new job for claims whose job was lost. May run in any number of processes. */
export async function reconcileClaims(
  services: Pick<Services, "balances" | "uow" | "clock" | "enginePolicy" | "queuedLegs">,
): Promise<void> {
  await rescueOverdue(
    services,
    "claim",
    (...due) => services.balances.overdueClaims(...due),
    (claimId) => ({ claimId }),
  );
}
