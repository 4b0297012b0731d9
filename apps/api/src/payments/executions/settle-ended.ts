import type { Services } from "../../db/services.port.ts";
import { noteCosts } from "./settle-execution.ts";

/**
 * Charges executions whose request ended and whose calls with the fill will no longer run: costs not recorded
 * by now are zero. If the quoted output was to pay, it paid when the request was filled.
 */
export async function settleEndedExecutions(
  services: Pick<Services, "reads" | "uow" | "clock" | "events">,
  limit: number,
): Promise<void> {
  for (const requestId of await services.reads.endedExecutions(limit))
    try {
      await services.uow.run(async (tx) => {
        const request = await tx.requests.lock(requestId);
        const outputPays = request?.state.name === "filled";
        await noteCosts(services, tx, requestId, { destinationUsd: 0n, outputPays });
      });
    } catch (error) {
      services.events.fault("reconcile_fault", error, { part: "ended executions", requestId });
    }
}
