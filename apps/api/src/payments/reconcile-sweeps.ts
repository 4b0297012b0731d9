import { rescueOverdue } from "../db/rescue-lost.ts";
import type { AddressServices } from "../deposits/index.ts";

/** Adds a new job for planned sweeps whose job was lost. May run in any number of processes. */
export async function reconcileSweeps(
  services: Pick<AddressServices, "clock" | "enginePolicy" | "uow" | "depositAddresses" | "queuedLegs">,
): Promise<void> {
  await rescueOverdue(
    services,
    "sweep",
    (...due) => services.depositAddresses.overdue(...due),
    (sweepId) => ({ sweepId }),
  );
}
