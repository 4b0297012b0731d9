import { rescueJob, sweepJob } from "../transition.ts";
import type { AddressServices } from "./address-services.ts";

const BATCH = 500;

/** The net under sweeps: one that stands planned for longer than it should gets its job again. Any number of processes may run it. */
export async function reconcileSweeps(
  services: Pick<AddressServices, "clock" | "enginePolicy" | "uow" | "depositAddresses">,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const { overdueAfterMs } = services.enginePolicy;
  const overdue = await services.depositAddresses.overdue(nowMs - overdueAfterMs, BATCH);
  if (overdue.length === 0) return;
  const window = Math.floor(nowMs / overdueAfterMs);
  await services.uow.run((tx) =>
    tx.outbox.add(
      overdue.map((id) => rescueJob(sweepJob(id, nowMs), window)),
      nowMs,
    ),
  );
}
