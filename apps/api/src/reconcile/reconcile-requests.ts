import type { Services } from "../db/services.port.ts";
import { expireFastFills } from "../executions/index.ts";
import { settleEndedExecutions } from "../payments/index.ts";
import { expireRequests } from "./expire-requests.ts";
import { rescueOverdue } from "../db/rescue-lost.ts";
import type { TransitionServices } from "../requests/index.ts";

const BATCH = 500;

type Needs = Pick<Services, "events" | "reads" | "uow" | "enginePolicy" | "quotePolicy" | "queuedLegs"> &
  TransitionServices &
  Parameters<typeof expireRequests>[0];

/**
 * Expires requests past their deadline and adds new jobs for what lost its job. Each part fails alone. May
 * run in any number of processes.
 */
export async function reconcileRequests(services: Needs): Promise<void> {
  const counts: Record<string, number> = {};
  const part = async (name: string, work: () => Promise<Readonly<Record<string, number>> | void>) => {
    try {
      Object.assign(counts, await work());
    } catch (error) {
      services.events.fault("reconcile_fault", error, { part: name });
    }
  };
  await part("expiry", async () => ({ expired: await expireRequests(services) }));
  const { reads } = services;
  const ofRequest = (requestId: string) => ({ requestId });
  await part("executions", async () => ({
    executions: await rescueOverdue(
      services,
      "execute",
      (...due) => reads.overdueExecutions(...due),
      ofRequest,
    ),
  }));
  await part("fills", async () => ({
    fills: await rescueOverdue(services, "fill", (...due) => reads.overdueFills(...due), ofRequest),
  }));
  await part("refunds", async () => ({
    refunds: await rescueOverdue(
      services,
      "refund",
      (...due) => reads.overdueRefunds(...due),
      (depositId) => ({ depositId }),
    ),
  }));
  await part("ended executions", async () => await settleEndedExecutions(services, BATCH));
  await part("fast fills", async () => await expireFastFills(services, BATCH));
  if (Object.values(counts).some((count) => count > 0)) services.events.happened("reconciled", counts);
}
