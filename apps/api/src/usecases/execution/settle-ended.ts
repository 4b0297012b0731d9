import type { Services } from "../../ports/services.ts";
import { noteCosts } from "./settle-execution.ts";

/** Charges executions whose calls beside the fill were never made, because the request ended without one. */
export async function settleEndedExecutions(
  services: Pick<Services, "reads" | "uow" | "clock" | "events">,
  limit: number,
): Promise<void> {
  for (const requestId of await services.reads.endedExecutions(limit))
    await services.uow.run(async (tx) => {
      await tx.requests.lock(requestId);
      await noteCosts(services, tx, requestId, { destinationUsd: 0n });
    });
}
