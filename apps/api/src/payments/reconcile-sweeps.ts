import { overdueNow, rescue } from "../db/rescue-lost.ts";
import type { AddressServices } from "../deposits/addresses/address-services.ts";

const BATCH = 500;

/** Planned sweeps that lost their job get another. Any number of processes may run it. */
export async function reconcileSweeps(
  services: Pick<AddressServices, "clock" | "enginePolicy" | "uow" | "depositAddresses">,
): Promise<void> {
  const sweepIds = await services.depositAddresses.overdue(overdueNow(services), BATCH);
  await rescue(
    services,
    sweepIds.map((sweepId) => ({ job: "sweep", legId: sweepId, payload: { sweepId } })),
  );
}
