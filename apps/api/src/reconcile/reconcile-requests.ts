import type { Services } from "../db/services.port.ts";
import { expireFastFills } from "../executions/index.ts";
import { settleEndedExecutions } from "../payments/index.ts";
import { expireRequests } from "./expire-requests.ts";
import { overdueNow, rescue } from "../db/rescue-lost.ts";
import type { TransitionServices } from "../requests/index.ts";

const BATCH = 500;

type Needs = Pick<Services, "events" | "reads" | "uow" | "enginePolicy" | "quotePolicy"> &
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
  await part("executions", async () => ({ executions: await rescueExecutions(services) }));
  await part("fills", async () => ({ fills: await rescueFills(services) }));
  await part("refunds", async () => ({ refunds: await rescueRefunds(services) }));
  await part("ended executions", async () => await settleEndedExecutions(services, BATCH));
  await part("fast fills", async () => await expireFastFills(services, BATCH));
  if (Object.values(counts).some((count) => count > 0)) services.events.happened("reconciled", counts);
}

async function rescueExecutions(services: Needs): Promise<number> {
  const requestIds = await services.reads.overdueExecutions(overdueNow(services), BATCH);
  return await rescue(
    services,
    requestIds.map((requestId) => ({ job: "execute", legId: requestId, payload: { requestId } })),
  );
}

async function rescueFills(services: Needs): Promise<number> {
  const requestIds = await services.reads.overdueFills(overdueNow(services), BATCH);
  return await rescue(
    services,
    requestIds.map((requestId) => ({ job: "fill", legId: requestId, payload: { requestId } })),
  );
}

async function rescueRefunds(services: Needs): Promise<number> {
  const depositIds = await services.reads.overdueRefunds(overdueNow(services), BATCH);
  return await rescue(
    services,
    depositIds.map((depositId) => ({ job: "refund", legId: depositId, payload: { depositId } })),
  );
}
