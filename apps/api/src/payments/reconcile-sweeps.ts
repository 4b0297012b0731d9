import { overdueNow, rescue } from "../db/rescue-lost.ts";
import type { AddressServices } from "../deposits/index.ts";

const BATCH = 500;

/** Adds a new job for planned sweeps whose job was lost. May run in any number of processes. */
export async function reconcileSweeps(
  services: Pick<AddressServices, "clock" | "enginePolicy" | "uow" | "depositAddresses">,
): Promise<void> {
  const sweepIds = await services.depositAddresses.overdue(overdueNow(services), BATCH);
  await rescue(
    services,
    sweepIds.map((sweepId) => ({ job: "sweep", legId: sweepId, payload: { sweepId } })),
  );
}
