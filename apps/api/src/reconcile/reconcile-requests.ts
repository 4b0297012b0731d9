import { expireFastFills } from "../executions/index.ts";
import { LEG_KINDS, requeueLost, settleEndedExecutions } from "../payments/index.ts";
import { expireRequests } from "./expire-requests.ts";

const BATCH = 500;

type Needs = Parameters<typeof requeueLost>[0] &
  Parameters<typeof expireRequests>[0] &
  Parameters<typeof expireFastFills>[0];

/**
 * Expires requests past their deadline and adds new jobs for legs that lost theirs. A failure of one part
 * does not stop the other. May run in any number of processes.
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
  for (const kind of LEG_KINDS) {
    const legs = `${kind.name}s`;
    await part(legs, async () => ({ [legs]: await requeueLost(services, kind) }));
  }
  await part("ended executions", async () => await settleEndedExecutions(services, BATCH));
  await part("fast fills", async () => await expireFastFills(services, BATCH));
  if (Object.values(counts).some((count) => count > 0)) services.events.happened("reconciled", counts);
}
